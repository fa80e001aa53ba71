// Package view is "tracewell view": recordings in a browser, or written as one file that needs no server.
//
// The command opens its operands, makes them a web.Subject (open.go), and has package web serve or write the page. It prints the
// address with the token on standard output, since whoever starts it in a script wants just that, and everything else, such as
// the source files that the page can ask for, on standard error.
package view

import (
	"errors"
	"fmt"
	"io"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/page"
	"tracewell/internal/wholefile"
	"tracewell/web"
)

// Command is "tracewell view".
type Command struct {
	File string `arg:"" help:"A trace file, an execution trace, or results of match --json, compressed or not; - is standard input."`
	comparing
	HTML   string   `name:"html" placeholder:"OUT" help:"Write the page as one file that needs no server, and exit."`
	Listen string   `placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"The loopback address to listen on (default: any free port)."`
	Source []string `sep:"none" type:"path" placeholder:"DIR" help:"Also show source files below DIR, beside those below the program's folder; may be given several times."`
	Open   bool     `help:"Open the page in the browser."`
	Exec   string   `placeholder:"ELF" help:"The program that was traced, for the names of its functions, variables and lines. Files that record wrote contain its path."`
	input.Reading
	input.ExecutionOptions
	input.LoadOptions
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell view run.tf                          # prints the address of the page; Ctrl-C ends it
  tracewell view run.tf --open                   # and opens it in the browser
  tracewell view run.tf.zst --exec ./server --source ../src
  tracewell view run.tf --html run.html          # one file, to be sent or kept
  tracewell view run.log --exec fw.elf           # an execution trace: calls, code, registers, memory
  tracewell view iss.log rtl.log --exec fw.elf   # both, side by side around each root cause
  tracewell match --pairs nightly.txt --json | tracewell view -    # the pairs of a regression
`
}

// Run implements kong's command. The file is opened and its frames are gone over before the address is printed, so that whoever has
// the address gets answers at once. A recording that is damaged is shown as far as it can be read; the damage is the error, so
// that the exit status is 2.
func (c *Command) Run(streams console.Streams, version page.Version) error {
	if c.HTML != "" && c.Open {
		return errors.New("--open and --html can't be used together: there is no server")
	}
	// Before a large file is opened: a wrong address costs nothing then.
	address, err := page.Loopback(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	// Ctrl-C is how the page is meant to end, so it is no failure then.
	ctx, cancel := console.UntilInterrupted()
	defer cancel()
	opened, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer opened.close()
	if c.HTML != "" {
		// An interrupted command leaves no half of a page.
		err := wholefile.Write(c.HTML, func(w io.Writer) error { return web.WritePage(ctx, w, opened.subject, string(version)) })
		return errors.Join(err, opened.err)
	}
	fmt.Fprintln(streams.Err, "The page is there until Ctrl-C:")
	place := page.Place{Address: address, Open: c.Open}
	return errors.Join(page.Serve(ctx, streams.Out, streams.Err, opened.subject, place, version), opened.err)
}
