package console

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"tracewell/internal/routine"
)

// Paging is for commands that print more than a screen.
type Paging struct {
	NoPager bool `help:"Print long output to the terminal itself, not through $PAGER."`
}

// usualPager is the pager of a user who names none. With these settings, which git has as well, it leaves output that fits on
// the screen there and ends, and passes colour on.
const (
	usualPager    = "less"
	usualSettings = "LESS=FRX"
)

// Write is write through the user's pager, if the output is a terminal. The context ends when nobody reads on.
func (p Paging) Write(streams Streams, print func(context.Context, *Output) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	printed := func(out *Output) error { return print(ctx, out) }
	if p.NoPager || !IsTerminal(streams.Out) {
		return Write(streams, printed)
	}
	pager, err := startPager(streams, cancel)
	if err != nil {
		return Write(streams, printed)
	}
	out := NewOutput(streams.Out) // looks at the terminal, and then writes to the pager
	out.Reset(pager.in)
	return pager.finish(WriteTo(out, printed))
}

// pager is a pager that runs.
type pager struct {
	in         *os.File
	ended      chan struct{}
	interrupts chan os.Signal
}

var errNoPager = errors.New("no pager")

// startPager starts the pager between this process and the terminal. It calls unread when nobody reads on.
func startPager(streams Streams, unread func()) (*pager, error) {
	command := pagerCommand()
	if command == nil {
		return nil, errNoPager
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	command.Stdin, command.Stdout, command.Stderr = r, streams.Out, streams.Err
	p := &pager{w, make(chan struct{}), make(chan os.Signal, 1)}
	// An interrupt from the keyboard comes to this process, too. It is for the pager, which would be left alone with the
	// terminal if this process ended: what is printed ends, and the pager shows what there is.
	signal.Notify(p.interrupts, os.Interrupt)
	if err := command.Start(); err != nil {
		signal.Stop(p.interrupts)
		w.Close()
		return nil, err
	}
	routine.Go(func() {
		for range p.interrupts {
			unread()
		}
	})
	routine.Go(func() {
		command.Wait() // how it ends is between it and the user
		unread()
		close(p.ended)
	})
	return p, nil
}

// pagerCommand returns the command of the pager, nil if there is none.
func pagerCommand() *exec.Cmd {
	named, given := os.LookupEnv("PAGER")
	if !given {
		named = usualPager
	}
	words := strings.Fields(named)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil
	}
	command := exec.Command("/bin/sh", "-c", named)
	command.Env = os.Environ()
	if _, given := os.LookupEnv("LESS"); !given {
		command.Env = append(command.Env, usualSettings)
	}
	return command
}

// finish waits for the pager, and returns the error that printing ended with. That the pager was left, or what it was given
// cut off, before everything was printed is none.
func (p *pager) finish(err error) error {
	p.in.Close()
	<-p.ended
	signal.Stop(p.interrupts)
	close(p.interrupts)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
