// Package serve is "tracewell serve": gdbserver's command line and messages over the stub.
//
// # The flow of a server
//
// The command line is gdbserver's, so that GDB's test-suite, IDEs and scripts can start either. The command listens, launches the
// program or attaches to it, and serves one client after another until there is nothing left: the program has ended and its trace
// frames, if a run collected any, have been looked at, or with --once the first client has left. With --multi it goes on without
// a program.
//
// A signal that would end the process ends the server in order instead, however many come: it detaches from processes that it
// attached to, whose code is restored first, and kills those that it launched. SIGINT, SIGTERM and SIGHUP give the exit status 0,
// as being told to end is no failure, any other 128 and its number.
package serve

import (
	"fmt"
	"io"
	"runtime/debug"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/page"
)

// Command is "tracewell serve". It takes gdbserver's command line as it is.
type Command struct {
	serverOptions `embed:""`

	Command []string `arg:"" optional:"" passthrough:"partial" name:"comm prog args" help:"Where to listen (:PORT for this machine only, HOST:PORT, *:PORT for everyone, tcp4: or tcp6: and these, unix:PATH, - or stdio, a serial device), the program and its arguments."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell serve :2345 ./server --port 80       # then in GDB: target remote :2345
  tracewell serve :0 ./server                    # any free port, printed
  tracewell serve --attach :2345 4711            # a process that runs already
  tracewell serve --multi :2345                  # target extended-remote :2345, then run and attach at will
  tracewell serve --view :2345 ./server          # the frames of tstart in a browser, beside GDB
  tracewell serve --wrapper env -u LANG -- :2345 ./server
  tracewell serve /dev/ttyS0 ./server            # over a serial line, at the speed that stty has set
  tracewell serve unix:/tmp/gdb.sock ./server    # for the owner of the socket only
  gdb -ex 'target remote | tracewell serve --once - ./server' ./server
`
}

// Run implements kong's command.
func (c *Command) Run(streams console.Streams, version page.Version) error {
	// gdbserver answers these two without looking at its operands, and exits with 0. GDB's test-suite runs --selftest where it finds
	// it, and takes this text for a build without self-tests.
	switch {
	case c.Selftest.given:
		fmt.Fprintln(streams.Out, "Selftests have been disabled for this build.")
		return nil
	case c.DisablePacket.given && c.DisablePacket.value == "":
		_, err := io.WriteString(streams.Out, disableable)
		return err
	}
	wanted, err := c.request(c.Command)
	if err != nil {
		return fmt.Errorf("%w (see tracewell serve --help)", err)
	}
	if err := console.CheckTracing("serve"); err != nil {
		return err
	}
	// Nothing above this line needs a process: help, --selftest and errors of the command line are the same on every system.
	debug.SetGCPercent(garbage)
	log, err := c.debugLog(streams.Err)
	if err != nil {
		return err
	}
	defer log.Close()
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	defer console.IgnoreBrokenPipes()()
	// A program that takes the terminal leaves this process in the background, where writing to it must not stop us.
	console.IgnoreTerminalStops()
	// gdbserver prints errors without its name, and "Exiting" below them; its test-suite and IDEs look for that.
	if err := c.serve(ctx, streams, wanted, log, version); err != nil {
		fmt.Fprintf(streams.Err, "%v\nExiting\n", err)
		return console.ErrTold
	}
	return console.SignalledStatus(ctx)
}

// garbage is the GC percentage (GOGC): how much memory may be garbage, in percent of what is live. What is live is mostly the
// trace buffer, of up to a gibibyte; having no pointers in it, it makes collecting no slower.
const garbage = 25
