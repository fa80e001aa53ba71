package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"tracewell/internal/wholefile"
	"tracewell/stub"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tracepoint"
)

// serveCommand is "tracewell serve". It takes gdbserver's command line as it is.
type serveCommand struct {
	serverOptions `embed:""`

	Command []string `arg:"" optional:"" passthrough:"partial" name:"comm prog args" help:"Where to listen (:PORT for this machine only, HOST:PORT, *:PORT for everyone, tcp4: or tcp6: and these, unix:PATH, - or stdio, a serial device), the program and its arguments."`
}

// Examples implements exampler.
func (*serveCommand) Examples() string {
	return `  tracewell serve :2345 ./server --port 80       # then in GDB: target remote :2345
  tracewell serve :0 ./server                    # any free port, printed
  tracewell serve --attach :2345 4711            # a process that runs already
  tracewell serve --multi :2345                  # target extended-remote :2345, then run and attach at will
  tracewell serve --wrapper env -u LANG -- :2345 ./server
  tracewell serve /dev/ttyS0 ./server            # over a serial line, at the speed that stty has set
  tracewell serve unix:/tmp/gdb.sock ./server    # for the owner of the socket only
  gdb -ex 'target remote | tracewell serve --once - ./server' ./server
`
}

// Run implements kong's command.
func (c *serveCommand) Run(streams Streams) error {
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
	debug.SetGCPercent(garbage)
	log, err := c.debugLog(streams.Err)
	if err != nil {
		return err
	}
	defer log.Close()
	ctx, cancel := untilSignalled(false)
	defer cancel()
	defer ignoreBrokenPipes()()
	// A program that takes the terminal leaves this process in the background, where writing to it must not stop us.
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)
	if err := c.serve(ctx, streams, wanted, log); err != nil {
		fmt.Fprintf(streams.Err, "%v\nExiting\n", err)
		return errTold
	}
	return signalledStatus(ctx)
}

// garbage is how much memory may be unused before it is collected, in percent of what is used. That is mostly the trace buffer,
// of up to a gibibyte; having no pointers in it, it makes collecting no slower.
const garbage = 25

// serve does what a right command line asks for. Clients can connect before the program has been started, which takes a
// while; a place that is taken should not start it at all.
func (c *serveCommand) serve(ctx context.Context, streams Streams, wanted request, log *stub.DebugLog) error {
	entrance, err := c.listen(wanted.place, streams)
	if err != nil {
		return err
	}
	defer entrance.Close()
	standard := linux.Streams{In: streams.In, Out: streams.Out, Err: streams.Err}
	stdio := wanted.place.Network == "stdio"
	if stdio {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer null.Close()
		standard.In, standard.Out = null, streams.Err
	}
	t, err := linux.New(standard)
	if err != nil {
		return err
	}
	defer printWarnings(streams.Err, t.Warnings())()
	defer t.Close()
	n := &narrator{messages: streams.Err, live: t.Threads, unguarded: t.Unguarded, quiet: stdio, terminal: takeTerminal(streams.In)}
	j := newJob(n.terminal, streams.Err, nil)
	defer j.close()
	defer n.leaving()
	if err := begin(t, n, wanted); err != nil {
		return err
	}
	engine, err := newEngine(t, standard.Out)
	if err != nil {
		return err
	}
	s := &service{program: t, engine: engine, narrator: n, config: stub.Config{
		Target: t, Engine: engine, Attached: wanted.pid != 0, Multi: c.Multi, Program: wanted.program,
		Notify: n.notify(), Disable: wanted.disable, Debug: log,
		Save:   wholefile.Write,
		Serial: wanted.place.Network == "device",
	}}
	s.server = stub.New(s.config)
	defer func() { s.server.Close() }()
	err = s.serve(ctx, entrance, c.Once || stdio)
	if errors.Is(err, stub.ErrExit) {
		return nil
	}
	return err
}

// begin starts the program or attaches to the process that is to be served first, if there is one.
func begin(t *linux.Target, n *narrator, wanted request) error {
	switch {
	case wanted.pid != 0:
		if _, err := t.Launcher().Attach(wanted.pid); err != nil {
			return err
		}
		n.attachedTo(wanted.pid)
	case wanted.program.Path != "":
		if n.quiet {
			fmt.Fprintln(n.messages, "stdin/stdout redirected")
		}
		first, err := t.Launcher().Start(wanted.program)
		if err != nil {
			return startFailure(wanted.program, err)
		}
		n.started(wanted.program.Path, first.PID)
	}
	return nil
}

// startFailure says why a program could not be started, as gdbserver and the shell say it by which that starts programs.
func startFailure(p target.Program, err error) error {
	command := append(slices.Clone(p.Wrapper), p.Path)[0]
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		//lint:ignore ST1005 gdbserver's words, which its test-suite waits for
		return fmt.Errorf("exec: %s: not found\nDuring startup program exited with code 127.", command)
	}
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		err = lookup.Err
	}
	//lint:ignore ST1005 gdbserver's words
	return fmt.Errorf("exec: %s: %w\nDuring startup program exited with code 126.", command, err)
}

// newEngine makes the engine that fits a target's registers. What agent expressions print goes where the program prints, as
// with gdbserver.
func newEngine(t *linux.Target, output io.Writer) (*tracepoint.Engine, error) {
	layout, err := t.Description().Layout()
	if err != nil {
		return nil, err
	}
	return tracepoint.New(tracepoint.Layout{
		Order:         t.ISA().Order,
		RegisterBlock: layout.Size,
		PCOffset:      layout.ByNumber(t.ISA().PC).Offset,
		Print:         func(text string) { io.WriteString(output, text) },
	}), nil
}
