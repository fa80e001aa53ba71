package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"tracewell/stub"
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
	if len(c.Command) < 2 {
		return errors.New("serve needs a place to listen and a program; see tracewell serve --help")
	}
	place, err := parseComm(c.Command[0])
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	// A program that takes the terminal leaves this process in the background, where writing to it must not stop us.
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)

	program := linux.Program{Path: c.Command[1], Args: c.Command[2:], RandomAddresses: c.NoDisableRandomization,
		Stdin: streams.In, Stdout: streams.Out, Stderr: streams.Err}
	if place.network == "stdio" {
		// Standard input and output carry the protocol.
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer null.Close()
		program.Stdin, program.Stdout = null, streams.Err
	}
	terminal := takeTerminal(streams.In)
	defer terminal.giveBack()
	t, err := linux.Launch(program)
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", program.Path, err)
	}
	defer t.Close()
	fmt.Fprintf(streams.Err, "Process %s created; pid = %d\n", program.Path, t.Threads()[0].ID.PID)
	engine, err := newEngine(t)
	if err != nil {
		return err
	}
	server := stub.New(stub.Config{Target: t, Engine: engine})
	defer server.Close()
	if place.network == "stdio" {
		return serveOne(ctx, server, standardIO{streams.In, streams.Out, streams.In.Close}, streams.Err)
	}
	return serveMany(ctx, server, place, c.Once, streams.Err)
}

// newEngine makes the engine that fits a target's registers.
func newEngine(t *linux.Target) (*tracepoint.Engine, error) {
	layout, err := t.Description().Layout()
	if err != nil {
		return nil, err
	}
	return tracepoint.New(tracepoint.Layout{
		Order:         t.ISA().Order,
		RegisterBlock: layout.Size,
		PCOffset:      layout.ByNumber(t.ISA().PC).Offset,
	}), nil
}

// serveMany serves the clients that connect, one after another, until there is no program left to serve.
func serveMany(ctx context.Context, server *stub.Server, place comm, once bool, messages io.Writer) error {
	listener, err := place.listen(messages)
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
			fmt.Fprintf(messages, "Remote debugging from host %s, port %d\n", peer.IP, peer.Port)
		}
		if err := serveOne(ctx, server, conn, messages); err != nil {
			return err
		}
		if once || ctx.Err() != nil || server.Spent() {
			return nil
		}
	}
}

// serveOne serves one client. A connection that breaks is a message, not an end. When the context ends it does not wait
// for a read that closing cannot interrupt, as of a pipe.
func serveOne(ctx context.Context, server *stub.Server, conn io.ReadWriteCloser, messages io.Writer) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(conn) }()
	select {
	case err := <-served:
		if err != nil && !errors.Is(err, stub.ErrExit) {
			fmt.Fprintf(messages, "tracewell: connection: %v\n", err)
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
