package match

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/recording"
	"tracewell/internal/routine"
	"tracewell/internal/serving"
	"tracewell/internal/text"
	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/itrace/match"
	"tracewell/itrace/match/batch"
	"tracewell/target/replay"
)

// serveOptions are about serving the two traces of a comparison to GDB: two GDBs can then step both sides from the last
// instruction on which they agree, forwards and backwards.
type serveOptions struct {
	Serve           string `group:"To look at it in GDB:" placeholder:"COMM,COMM" help:"Serve both traces to GDB until Ctrl-C, as replay does, the reference first, each positioned at the first difference."`
	Exec            string `group:"To look at it in GDB:" placeholder:"ELF" help:"With --serve, the program that was executed."`
	flags.Admission `group:"To look at it in GDB:"`
	Arch            string `group:"To look at it in GDB:" placeholder:"NAME" help:"With --serve, the architecture, if neither --exec nor the names of registers determine it: ${architectures}."`
}

// checkServe refuses what cannot be served: several comparisons, and traces that can be read only once, as they are read a second
// time for the index.
func (c *Command) checkServe() error {
	switch {
	case c.Serve == "" && (c.Exec+c.Arch != "" || c.AnyUser):
		return errors.New("--exec, --arch and --any-user are for --serve")
	case c.Serve == "":
		return nil
	case c.Merge || c.Pairs != "" || len(c.Files) != 2:
		return errors.New("--serve needs two traces")
	}
	if _, err := c.comms(); err != nil {
		return fmt.Errorf("--serve: %w", err)
	}
	for _, path := range c.Files {
		if status, err := os.Stat(path); path == "-" || err == nil && !status.Mode().IsRegular() {
			return fmt.Errorf("--serve: %s can be read once only: write it to a file first", path)
		}
	}
	return nil
}

// comms are the places of the two servers, of the reference first. Standard input and serial lines are refused: GDB is not at the
// other end while the comparison is printed.
func (c *Command) comms() (places [2]serving.Comm, err error) {
	// The comma parts the two, so the path of a socket must not hold one.
	reference, other, ok := strings.Cut(c.Serve, ",")
	if !ok {
		return places, fmt.Errorf("%q is not two places, as in :2345,:2346", c.Serve)
	}
	for i, s := range []string{reference, other} {
		if places[i], err = serving.ParseComm(s); err != nil {
			return places, err
		}
		if network := places[i].Network; network == "stdio" || network == "device" {
			return places, fmt.Errorf("%q is no socket", s)
		}
	}
	return places, nil
}

// serve serves both traces until a signal ends the command. Equal traces have no difference at which a client could start.
func (c *Command) serve(r *batch.Result, streams console.Streams) error {
	if len(r.Differences) == 0 {
		fmt.Fprintln(streams.Err, "tracewell: there is no difference to serve")
		return nil
	}
	// The index of each side is built, or loaded, before the ports are printed, so GDB need not wait.
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	defer console.IgnoreBrokenPipes()()
	places, err := c.comms()
	if err != nil {
		return err
	}
	// A server that fails takes the other one with it: its error would not be seen before Ctrl-C otherwise.
	both, fail := context.WithCancel(ctx)
	defer fail()
	// The channel has room for both, so neither goroutine is left behind when this function returns early.
	served := make(chan error, len(places))
	for i, place := range places {
		side, err := c.side(i, r, streams)
		if err != nil {
			return err
		}
		defer side.Close()
		clients, err := c.ListenOn(place, streams)
		if err != nil {
			return err
		}
		defer clients.Close()
		routine.Go(func() {
			err := side.Serve(both, clients, false, streams.Err)
			if err != nil {
				fail()
			}
			served <- err
		})
	}
	return errors.Join(<-served, <-served, console.SignalledStatus(ctx))
}

// side opens one of the traces for clients, each of which starts in front of the instruction at the first difference. A position
// that cannot be reached is reported now, not to the first client.
func (c *Command) side(side int, r *batch.Result, streams console.Streams) (*recording.Recording, error) {
	file, err := input.OpenPacked(c.Files[side], streams)
	if err != nil {
		return nil, err
	}
	d, err := dialects.All.ByName(r.Traces[side].Dialect)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	options := replay.ExecutionOptions{Options: execution.Options{Arch: c.Arch}, Path: c.Exec}
	e, err := recording.OpenExecution(file, d, options, streams)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// The target is moved once here, for its message and a possible error, and again for each client: each has one of its own.
	start := func(t *replay.ExecutionTarget) error { return t.GotoLine(lineOf(&r.Differences[0], side)) }
	served := recording.OfExecution(e, file, start)
	t, err := e.Target()
	if err == nil {
		err = start(t)
	}
	if err != nil {
		return nil, errors.Join(err, served.Close())
	}
	fmt.Fprintf(streams.Err, "tracewell: %s: %s: %s\n", [...]string{"reference", "other"}[side], text.Visible(file.Name), t.Position())
	return served, nil
}

// pastTheEnd is a line behind all others: GotoLine then goes to the end of the trace.
const pastTheEnd = 1 << 62

// lineOf is the line of a trace at which a difference is. Where a side has nothing of it, that is the last line in front of it
// that is known, or the end.
func lineOf(d *match.Difference, side int) int64 {
	at := [...]*match.Position{d.Reference, d.Other}[side]
	if at != nil {
		return at.Line
	}
	// A difference of class tail is what one trace has behind the end of the other.
	if d.Context == nil || d.Class == match.ClassTail {
		return pastTheEnd
	}
	lines := [...][]match.Position{d.Context.Reference, d.Context.Other}[side]
	if len(lines) == 0 {
		return pastTheEnd
	}
	return lines[len(lines)-1].Line
}
