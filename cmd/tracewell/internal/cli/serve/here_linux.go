package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/internal/sys"
	"tracewell/internal/wholefile"
	"tracewell/stub"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tracepoint"
)

// serve launches or attaches to the program, and serves it until there is nothing left to serve or a signal ends the server. It
// listens first: clients can connect while the program is launched, and a port that is in use launches no program. With stdio the
// connection has standard input and output, so the program reads from /dev/null and writes to standard error, as with gdbserver.
//
// What is deferred runs in this order: messages about the processes that are left, the terminal, the target, which detaches from
// them or kills them, and the target's last warnings.
func (c *Command) serve(ctx context.Context, streams console.Streams, wanted request, log *stub.DebugLog, version page.Version,
) error {
	clients, err := c.ListenOn(wanted.place, streams)
	if err != nil {
		return err
	}
	defer clients.Close()
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
	if c.Pads {
		t.UsePads(linux.Pads{})
	}
	defer printWarnings(streams.Err, t.Warnings())()
	defer t.Close()
	m := &messages{
		out: streams.Err, live: t.Threads, unguarded: t.Unguarded, quiet: stdio, terminal: console.TakeTerminal(streams.In),
	}
	j := console.NewJob(m.terminal, streams.Err, nil, func() func() {
		resume, any := t.PausePads()
		return console.Missing(resume, any, func(err error) { fmt.Fprintln(streams.Err, "tracewell: warning:", err) })
	})
	defer j.Close()
	defer m.leaving()
	if err := begin(t, m, wanted); err != nil {
		return err
	}
	layout, err := tracepoint.LayoutOf(t)
	if err != nil {
		return err
	}
	// The engine collects whole register blocks: which registers a client will ask for is not known before it does.
	// Agent printf prints where the program prints, as in gdbserver.
	layout.Print = func(text string) { io.WriteString(standard.Out, text) }
	layout.TrapsOnly, layout.WhenFull = !c.Pads, target.WhenFull(c.WhenFull)
	layout.MaxBuffer, layout.Memory = maxBuffer, sys.Reserve
	engine := tracepoint.New(layout)
	s := &service{program: t, engine: engine, messages: m, config: stub.Config{
		Target: t, Engine: engine, Attached: wanted.pid != 0, Multi: c.Multi, Program: wanted.program,
		Notify: m.notify(), Disable: wanted.disable, Debug: log,
		Save:   wholefile.Write,
		Serial: wanted.place.Network == "device",
	}}
	s.server = stub.New(s.config)
	defer func() { s.server.Close() }()
	if c.View {
		end, err := showPage(t, engine, s.server.State, streams, version)
		if err != nil {
			return err
		}
		defer end()
	}
	// With stdio there is one client, which cannot come again.
	err = s.serve(ctx, clients, c.Once || stdio)
	if errors.Is(err, stub.ErrExit) {
		return nil
	}
	return err
}

// maxBuffer is the largest trace buffer in bytes. It takes memory as frames come, so this only guards against mistakes.
const maxBuffer = 64 << 30

// begin launches the program or attaches to the process of the command line. With --multi there may be neither.
func begin(t *linux.Target, m *messages, wanted request) error {
	switch {
	case wanted.pid != 0:
		if _, err := t.Launcher().Attach(wanted.pid); err != nil {
			return err
		}
		m.attachedTo(wanted.pid)
	case wanted.program.Path != "":
		if m.quiet {
			fmt.Fprintln(m.out, "stdin/stdout redirected")
		}
		first, err := t.Launcher().Start(wanted.program)
		if err != nil {
			return startFailure(wanted.program, err)
		}
		m.started(wanted.program.Path, first.PID)
	}
	return nil
}

// startFailure is the error of a program that could not be launched, in the words of gdbserver 13.1 and of the shell through
// which it launches programs: 127 is the shell's status of a command that is not found, 126 of one that cannot be executed.
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
