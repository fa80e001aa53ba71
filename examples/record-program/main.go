//go:build linux

// Command record-program runs a program with a tracepoint in it, which collects an expression, and prints the value of each hit
// while the program runs. There is no GDB in it, and the program is not stopped.
//
//	go run ./examples/record-program LOCATION EXPRESSION PROGRAM [ARGUMENT…]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"tracewell/record"
	"tracewell/record/local"
	"tracewell/record/plan"
	"tracewell/target"
	"tracewell/tfile"
	"tracewell/view"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 3 {
		return errors.New("usage: record-program LOCATION EXPRESSION PROGRAM [ARGUMENT…]")
	}
	// The plan is what GDB would be told: trace LOCATION, actions, collect EXPRESSION, end.
	var p plan.Plan
	if err := p.AddItems([]plan.Item{{Option: "--at", Value: args[0]}, {Option: "--collect", Value: args[1]}}); err != nil {
		return err
	}
	shown := printer{out: out}
	session, err := local.Open(local.Config{
		Config:  record.Config{Plan: &p, NotPending: true, Frames: shown.show},
		Program: target.Program{Path: args[2], Args: args[3:]},
		Streams: target.Streams{In: os.Stdin, Out: os.Stderr, Err: os.Stderr},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	shown.session = session
	result, err := session.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d frames\n", result.Feed.Frames)
	return shown.err
}

// printer prints frames as they come.
type printer struct {
	out     io.Writer
	session *record.Session
	view    *view.View
	reader  *view.Reader
	err     error
}

// show prints what a frame has collected. One goroutine of the session calls it, with one frame after another.
func (p *printer) show(f record.Frame) {
	if p.view == nil {
		p.view, _ = view.New(tfile.Definitions(p.session.Header()), p.session.Program())
		p.reader = p.view.NewReader()
	}
	p.reader.Set(p.view.Of(int(f.Index), f.Frame))
	for _, item := range p.reader.Items() {
		if item.Slot != nil {
			continue // a register
		}
		if value, ok := p.reader.Append(nil, item, view.StyleJSON); ok && p.err == nil {
			_, p.err = fmt.Fprintf(p.out, "%s = %s\n", item.Name, value)
		}
	}
}
