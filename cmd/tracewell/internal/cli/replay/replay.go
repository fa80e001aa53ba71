// Package replay is "tracewell replay": trace files and execution traces as targets that GDB connects to. It decides what a file
// is and how it is opened; package recording serves it.
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
	r, err := c.open(streams)
	if err != nil {
		return err
	}
	defer r.Close()
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	defer console.IgnoreBrokenPipes()()
	entrance, err := c.ListenOn(place, streams)
	if err != nil {
		return err
	}
	defer entrance.Close()
	return errors.Join(r.Serve(ctx, entrance, c.Once || place.Network == "stdio", streams.Err), console.SignalledStatus(ctx))
}

// open opens the recording: a folder is a trace in CTF; a file that begins as one of the dialects does is an execution trace;
// whatever else begins with a printable character is refused, with what each format lacks; the rest is opened as a trace file,
// whose errors say at which offset it is none.
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
	switch d, err := c.executionDialect(file); {
	case err != nil:
		return nil, errors.Join(err, file.Close())
	case d != nil:
		return c.openExecution(file, d, streams)
	}
	return c.openTraceFile(func(opts []tfile.Option) (*input.TraceFile, tfile.Content, error) {
		return input.ContentOf(file, streams, opts)
	}, streams)
}
