// Package replay is "tracewell replay": trace files and execution traces as targets that GDB connects to. It decides what a file
// is and how it is opened; package recording serves it.
//
// # The flow of a command
//
// The operand is opened and looked at, which decides between a trace file, a trace in CTF and an execution trace; an execution
// trace is indexed, or its index loaded. Only then the command listens, and serves one client after another until a signal ends
// it, a client sends "monitor exit", or with --once the first client has left. Nothing that clients do changes the recording:
// each gets a target of its own, and packets that would write are refused.
//
// What is wrong with the recording, as damage behind which there are no frames, is printed once, before the first client: a
// client sees only the frames that there are.
package replay

import (
	"errors"
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/recording"
	"tracewell/internal/serving"
	"tracewell/tfile"
)

// Command is "tracewell replay".
type Command struct {
	File   string `arg:"" help:"The trace file or execution trace, compressed or not; - is standard input."`
	Listen string `placeholder:"COMM" default:":0" help:"Where to listen for GDB, as in serve: :PORT, HOST:PORT, unix:PATH, - or stdio, a serial device (default: any free port, which is printed)."`
	Exec   string `placeholder:"ELF" help:"The program that was traced. Its path is reported to GDB, and its sections are the initial contents of memory."`
	Tdesc  string `placeholder:"FILE" help:"A target description to use in place of the one in the file, from any source that tdesc reads."`
	Frame  int    `placeholder:"N" default:"0" help:"Trace files: the frame at which LLDB begins, which has no tfind."`
	Once   bool   `help:"Exit when the first client disconnects."`
	flags.Admission
	input.Reading
	executionOptions
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell replay run.tf                        # then in GDB: target remote :PORT, as it is printed
  tracewell replay run.tf --listen :2345 --exec ./server
  tracewell replay run.tf.zst --listen unix:/tmp/gdb.sock --once
  tracewell replay board.tf --tdesc board.xml --endian big
  tracewell replay run.log --exec firmware.elf   # an execution trace, which runs backwards, too
  gdb -ex 'target remote | tracewell replay run.tf --exec ./server --listen -'
`
}

// Run implements kong's command. The file is opened, and an execution trace indexed, before the command listens: a client that
// has connected is served at once, and a file that cannot be served is reported without one.
func (c *Command) Run(streams console.Streams) error {
	place, err := serving.ParseComm(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if c.File == "-" && place.Network == "stdio" {
		return errors.New("standard input cannot be both the file and GDB: --listen needs another place")
	}
	// A signal that comes while the file is opened has its usual effect, or ends the indexing: there is nobody to serve yet.
	r, err := c.open(streams)
	if err != nil {
		return err
	}
	defer r.Close()
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	defer console.IgnoreBrokenPipes()()
	// With stdio GDB has started this command and reads its output, so there is one client, and nothing to wait for behind it.
	entrance, err := c.ListenOn(place, streams)
	if err != nil {
		return err
	}
	defer entrance.Close()
	return errors.Join(r.Serve(ctx, entrance, c.Once || place.Network == "stdio", streams.Err), console.SignalledStatus(ctx))
}

// open opens the recording: a folder is a trace in CTF; a file that begins as one of the dialects does is an execution trace;
// other text is refused, with what each dialect lacks; the rest is opened as a trace file, whose errors say at which offset it is
// none.
func (c *Command) open(streams console.Streams) (*recording.Recording, error) {
	if input.HoldsCTF(c.File) {
		return c.openTraceFile(func(opts []tfile.Option) (*input.TraceFile, tfile.Content, error) {
			return input.OpenContent(c.File, streams, opts)
		}, streams)
	}
	file, err := input.OpenTraceBytes(c.File, streams)
	if err != nil {
		return nil, err
	}
	switch d, err := c.DialectOf(file); {
	case err != nil:
		return nil, errors.Join(err, file.Close())
	case d != nil:
		return c.openExecution(file, d, streams)
	}
	return c.openTraceFile(func(opts []tfile.Option) (*input.TraceFile, tfile.Content, error) {
		return input.ContentOf(file, streams, opts)
	}, streams)
}
