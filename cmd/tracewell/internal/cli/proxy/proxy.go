// Package proxy is "tracewell proxy": a server for GDB in front of any stub, with the tracepoints and conditions that the stub
// lacks.
//
// # The flow of a proxy
//
// The command connects to the stub and finds out what it is before it listens, so that what is wrong there is known at once. GDB
// then finds a target of this server's, whose registers, memory and stops come from the stub; what this server does not know
// itself it hands on (target.Passage).
//
// Clients come one after another. A client that detaches lets the program go, and the connection to the stub ends; the next one
// finds it anew. One that is lost leaves the program stopped, or running for a trace run that survives it.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/serving"
	"tracewell/internal/wholefile"
	"tracewell/stub"
	"tracewell/target/remote"
	"tracewell/tracepoint"
)

// Command is "tracewell proxy".
type Command struct {
	Listen string `arg:"" optional:"" default:":0" placeholder:"COMM" help:"Where to listen for GDB, as in serve: :PORT, HOST:PORT, unix:PATH, - or stdio, a serial device (default: any free port, which is printed)."`
	To     string `required:"" placeholder:"STUB" help:"The stub: HOST:PORT, :PORT, unix:PATH, a serial device at the speed that it has, or '| COMMAND', as GDB's target remote has them."`
	Exec   string `placeholder:"ELF" help:"The program that the machine executes: saves steps at hits, and says what processor it has where the stub does not."`
	input.StubOptions
	Probe    bool          `help:"Print the stub's profile, as --profile takes it, and on standard error what else it has; then exit."`
	Quiet    bool          `short:"q" help:"Do not say at tstart what a hit costs: for clients that expect no output there."`
	Once     bool          `help:"Exit when the first client disconnects."`
	Patience time.Duration `default:"15s" placeholder:"TIME" help:"How long the stub may take for a reply before it is given up (default: 15s)."`
	flags.Admission
	input.DescriptionOptions
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell proxy :2345 --to :1234               # QEMU with -s; then in GDB: target remote :2345
  tracewell proxy :2345 --to localhost:3333 --exec firmware.elf
  tracewell proxy :2345 --to '| vgdb'            # a program under Valgrind
  tracewell proxy :2345 --to /dev/ttyACM0
  tracewell proxy --probe --to :1234             # what is the stub, and what has it?
  tracewell proxy --probe --to :1234 >board.json # its profile, to be changed and given by --profile
`
}

// Run implements kong's command.
func (c *Command) Run(streams console.Streams) error {
	place, err := serving.ParseComm(c.Listen)
	if err != nil {
		return err
	}
	p := &proxy{command: c, streams: streams, printed: streams.Out}
	// With stdio GDB is at the other end of standard output, where a byte that is no packet would end the session.
	if place.Network == "stdio" {
		p.printed = streams.Err
	}
	if p.address, err = remote.ParseAddress(c.To); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if err := p.prepare(); err != nil {
		return err
	}
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	defer console.IgnoreBrokenPipes()()
	// Whatever ends this lets the program go: its breakpoints would kill it, or stop it for nobody.
	defer p.close()
	if err := p.connect(); err != nil {
		return err
	}
	// Connected and recognised is all that a probe wants.
	if c.Probe {
		return p.report()
	}
	entrance, err := c.ListenOn(place, streams)
	if err != nil {
		return err
	}
	defer entrance.Close()
	// With stdio GDB has started this command, so nobody comes after it.
	return errors.Join(p.serve(ctx, entrance, c.Once || place.Network == "stdio"), console.SignalledStatus(ctx))
}

// proxy is one run of the command.
type proxy struct {
	command *Command
	streams console.Streams
	printed io.Writer // takes what the program prints, and the stub
	address remote.Address
	options remote.Options
	target  *remote.Target
	engine  *tracepoint.Engine
	server  *stub.Server
	over    bool              // server has the frames of a program that is gone
	behind  []remote.Leftover // in the program, of connections that have ended
}

// prepare reads the files of the command line.
func (p *proxy) prepare() (err error) {
	c := p.command
	if c.Patience <= 0 {
		return fmt.Errorf("--patience: %v, expected a time to wait", c.Patience)
	}
	if p.options, err = c.StubOptions.Read(c.Exec, c.DescriptionOptions, p.streams); err != nil {
		return err
	}
	p.options.Patience, p.options.Quiet = c.Patience, c.Quiet
	p.options.Console = func(text []byte) { _, _ = p.printed.Write(text) }
	return nil
}

// connect connects to the stub. Where that fails, all is as it was.
func (p *proxy) connect() error {
	conn, err := p.address.Dial()
	if err != nil {
		return err
	}
	t, err := remote.Open(conn, p.options)
	if err != nil {
		return fmt.Errorf("%s: %w", p.address, err)
	}
	layout, err := tracepoint.LayoutOf(t)
	if err != nil {
		return errors.Join(err, t.Close())
	}
	// A frame has what the stub tells at once; registers behind that cost a packet each.
	layout.RegisterBlock = t.BlockSize()
	// Agent printf prints where the program does: a program behind a stub has no terminal here.
	layout.Print = func(text string) { _, _ = io.WriteString(p.printed, text) }
	// The client of before has its definitions in the engine of before; GDB sends them anew.
	p.target, p.engine = t, tracepoint.New(layout)
	c := stub.Config{Target: t, Engine: p.engine, Attached: true, Save: wholefile.Write}
	if t.Recording() { // which has all of that itself
		c.Engine, c.Save = nil, nil
	}
	p.server = stub.New(c)
	p.over = false
	return p.sweep()
}

// sweep removes what earlier connections have left in the program. What cannot be removed is named, and tried again the next time.
func (p *proxy) sweep() error {
	if len(p.behind) == 0 {
		return nil
	}
	still, err := p.target.Remove(p.behind)
	p.behind = still
	if lost := p.target.Err(); lost != nil {
		return lost
	}
	if err != nil {
		p.warn("cannot be removed: %v", err)
	}
	return nil
}

// report prints what is known of the stub: its profile as a file for --profile, and beside that, for people, what else there is.
func (p *proxy) report() error {
	r, err := p.target.Probe()
	if err != nil {
		return err
	}
	fmt.Fprintln(p.streams.Err, r)
	_, err = fmt.Fprintln(p.streams.Out, p.target.Profile())
	return err
}

// close ends what there is, as the command ends. What is still in the program is named.
func (p *proxy) close() {
	p.release()
	for _, l := range p.behind {
		p.warn("left in the program: %v", l)
	}
}

// release lets the program go, and ends the server and the connection. What cannot be removed from the program is noted.
func (p *proxy) release() {
	if p.server == nil {
		return
	}
	p.server.Close() // which watches over a program that runs without a client
	p.server = nil
	if p.over {
		return // and the connection has ended before
	}
	if err := p.target.Close(); err != nil {
		p.warn("%v", err)
	}
	p.behind = append(p.behind, p.target.Left()...)
}

// warn prints a warning about the stub.
func (p *proxy) warn(format string, args ...any) {
	fmt.Fprintf(p.streams.Err, "tracewell: warning: %s: %s\n", p.address, fmt.Sprintf(format, args...))
}

// serve serves clients one after another.
func (p *proxy) serve(ctx context.Context, clients serving.Listener, once bool) error {
	s := serving.Server{
		Listener: clients, Once: once, Messages: p.streams.Err, Exit: stub.ErrExit,
		Begin: func() (serving.Session, error) {
			return func(conn io.ReadWriteCloser) error { return p.attend(conn, once) }, nil
		},
	}
	err := s.Run(ctx)
	if errors.Is(err, stub.ErrExit) {
		return nil
	}
	return err
}

// attend serves a client.
func (p *proxy) attend(conn io.ReadWriteCloser, last bool) error {
	// A stub that is not there now may be there for the next client.
	if err := p.renew(); err != nil {
		return errors.Join(err, conn.Close())
	}
	err := p.server.Serve(conn)
	// Where the program is gone or let go the connection is of no more use, and most stubs have room for one.
	if !last && !p.over && p.server.Spent() {
		p.release()
		p.keep()
	}
	return err
}

// renew sees to it that there is something to serve: the program, or, once that has ended or the stub was lost, the frames that
// it has left, and for the client after that a new connection.
func (p *proxy) renew() error {
	if p.server != nil && !p.server.Spent() {
		return nil
	}
	p.release()
	err := p.connect()
	if err != nil && p.over && p.keep() { // the stub is not back yet
		p.warn("%v", err)
		return nil
	}
	return err
}

// keep has the frames of a program that is gone served, and reports whether there are any.
func (p *proxy) keep() bool {
	frames := p.engine.Status().Frames
	left := p.target.Ended()
	if left == nil || frames == 0 {
		return false
	}
	p.server, p.over = stub.New(stub.Config{Target: left, Engine: p.engine, Save: wholefile.Write}), true
	fmt.Fprintf(p.streams.Err, "The program is gone. Its %d trace frames are kept for the next client.\n", frames)
	return true
}
