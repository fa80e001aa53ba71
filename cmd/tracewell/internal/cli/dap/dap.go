// Package dap is "tracewell dap": a debug adapter for editors, on standard input and output or a socket. It decides where clients
// come from; package tracewell/dap serves them.
//
// Standard output belongs to the protocol, so all messages of the command itself go to standard error, which editors keep in a log.
// A signal ends the session in order: a program that was launched ends with it, one that was attached to goes on.
package dap

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/dap"
	"tracewell/internal/serving"
)

// Command is "tracewell dap".
type Command struct {
	Listen string `placeholder:"COMM" default:"-" help:"Where to listen for clients: :PORT, 127.0.0.1:PORT, unix:PATH (default: - is standard input and output, as editors start adapters)."`
	Once   bool   `help:"Exit when the first client disconnects. Implied by standard input."`
	flags.Admission
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell dap                                  # started by an editor, see docs/editors.md
  tracewell dap --listen 127.0.0.1:4711          # for editors that connect
`
}

// Run implements kong's command. Where processes cannot be traced recordings still can be looked at.
func (c *Command) Run(streams console.Streams) error {
	place, err := serving.ParseComm(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	ctx, cancel := console.UntilSignalled(false)
	defer cancel()
	defer console.IgnoreBrokenPipes()()
	options := serving.Options{In: streams.In, Out: streams.Out, Messages: streams.Err, AnyUser: c.AnyUser}
	if place.Network == "stdio" {
		options.Messages = io.Discard // the listener's words are those of servers for GDB
	}
	listener, err := place.Listen(options)
	if err != nil {
		return err
	}
	defer listener.Close()
	err = serve(ctx, listener, c.Once || place.Network == "stdio", streams.Err)
	return errors.Join(err, console.SignalledStatus(ctx))
}

// serve serves one client after another. It waits for a session to end even if a signal has come: a process that was attached to is
// left in order first.
func serve(ctx context.Context, listener serving.Listener, once bool, messages io.Writer) error {
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := dap.Serve(dap.Config{Record: recordHere, Terminate: terminate, Done: ctx.Done()}, conn); err != nil {
			fmt.Fprintf(messages, "tracewell: dap: %v\n", err)
		}
		// The program that the client debugged has ended, or goes on by itself.
		conn.Close()
		if once || ctx.Err() != nil {
			return nil
		}
	}
}
