package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"tracewell/stub"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tracepoint"
)

// serveCommand is "tracewell serve".
type serveCommand struct {
	Once                   bool `help:"End when the first client leaves."`
	NoDisableRandomization bool `help:"Leave address space randomisation on."`
	DisableRandomization   bool `help:"Turn it off (the default)." hidden:""`

	Command []string `arg:"" passthrough:"" name:"comm prog args" help:"Where to listen (HOST:PORT, :PORT, unix:PATH, - or stdio), the program and its arguments."`
}

// Examples implements exampler.
func (*serveCommand) Examples() string {
	return `  tracewell serve :2345 ./server --port 80       # then in GDB: target remote :2345
  tracewell serve :0 ./server                    # any free port, printed
  tracewell serve unix:/tmp/gdb.sock ./server    # for the owner of the socket only
  gdb -ex 'target remote | tracewell serve --once - ./server' ./server
`
}

// Run implements kong's command.
func (c *serveCommand) Run(streams Streams) error {
	if strings.HasPrefix(c.Command[0], "--") {
		return fmt.Errorf("unknown flag %s (see tracewell serve --help)", c.Command[0])
	}
	if len(c.Command) < 2 {
		return errors.New("serve needs a place to listen and a program (see tracewell serve --help)")
	}
	place, err := parseComm(c.Command[0])
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	// A program that takes the terminal leaves this process in the background, where writing to it must not stop us.
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)

	program := target.Program{Path: c.Command[1], Args: c.Command[2:], RandomAddresses: c.NoDisableRandomization}
	standard := linux.Streams{In: streams.In, Out: streams.Out, Err: streams.Err}
	if place.network == "stdio" {
		// Standard input and output carry the protocol.
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer null.Close()
		standard.In, standard.Out = null, streams.Err
	}
	terminal := takeTerminal(streams.In)
	defer terminal.giveBack()
	t, err := linux.New(standard)
	if err != nil {
		return err
	}
	defer t.Close()
	first, err := t.Start(program)
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", program.Path, err)
	}
	fmt.Fprintf(streams.Err, "Process %s created; pid = %d\n", program.Path, first.PID)
	engine, err := newEngine(t, standard.Out)
	if err != nil {
		return err
	}
	s := &service{program: t, engine: engine, messages: streams.Err}
	s.server = stub.New(stub.Config{Target: t, Engine: engine, Ended: s.tellEnd})
	defer func() { s.server.Close() }()
	if place.network == "stdio" {
		return ignoreExit(s.one(ctx, standardIO{streams.In, streams.Out, streams.In.Close}))
	}
	return ignoreExit(s.many(ctx, place, c.Once))
}

// ignoreExit makes the end that a client asked for no failure.
func ignoreExit(err error) error {
	if errors.Is(err, stub.ErrExit) {
		return nil
	}
	return err
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

// service is what one run of serve offers to its clients.
type service struct {
	program  *linux.Target
	engine   *tracepoint.Engine
	server   *stub.Server
	ended    bool // server shows what the program left
	messages io.Writer
}

// tellEnd says how the program ended, in gdbserver's words.
func (s *service) tellEnd(ev target.Event) {
	if ev.Kind == target.Exited {
		fmt.Fprintf(s.messages, "\nChild exited with status %d\n", ev.Code)
		return
	}
	fmt.Fprintf(s.messages, "\nChild terminated with signal = 0x%x (%s)\n", int(ev.Signal), stub.SignalName(ev.Signal))
}

// many serves the clients that connect, one after another, until there is nothing left to serve.
func (s *service) many(ctx context.Context, place comm, once bool) error {
	listener, err := place.listen(s.messages)
	if err != nil {
		return err
	}
	defer listener.Close()
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("waiting for a client: %w", err)
		}
		if peer, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
			fmt.Fprintf(s.messages, "Remote debugging from host %s, port %d\n", peer.IP, peer.Port)
		}
		s.goOn() // the program may have ended while nobody was connected
		err = s.one(ctx, conn)
		if err != nil || once || ctx.Err() != nil || !s.goOn() {
			return err
		}
	}
}

// goOn reports whether there is something to serve: the program, or after its end the frames of its trace run, which are
// then shown over what is known of it.
func (s *service) goOn() bool {
	if !s.server.Spent() {
		return true
	}
	frames := s.engine.Status().Frames
	left := s.program.Ended()
	if s.ended || frames == 0 || left == nil {
		return false
	}
	s.server.Close()
	s.server, s.ended = stub.New(stub.Config{Target: left, Engine: s.engine}), true
	fmt.Fprintf(s.messages, "The program has ended. Its %d trace frames are kept: connect again to look at them.\n", frames)
	return true
}

// one serves one client. A connection that breaks is a message, not an end. When the context ends it does not wait for a
// read that closing cannot interrupt, as of a pipe.
func (s *service) one(ctx context.Context, conn io.ReadWriteCloser) error {
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(conn) }()
	select {
	case err := <-served:
		if errors.Is(err, stub.ErrExit) {
			return err
		}
		if err != nil {
			fmt.Fprintf(s.messages, "tracewell: connection: %v\n", err)
		}
	case <-ctx.Done():
		conn.Close()
		select {
		case <-served:
		case <-time.After(time.Second):
		}
	}
	return nil
}
