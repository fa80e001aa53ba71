// Package view is "tracewell view": recordings in a browser, or written as one file that needs no server.
//
// The command opens its operands, makes them a web.Subject (open.go), and has package web serve or write the page. It prints the
// address with the token on standard output, since whoever starts it in a script wants just that, and everything else, such as
// the source files that the page can ask for, on standard error.
package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/internal/wholefile"
	"tracewell/view/wire"
	"tracewell/web"
)

// Version is that of Tracewell, for the page.
type Version string

// Command is "tracewell view".
type Command struct {
	File   string   `arg:"" help:"The trace file, compressed or not; - is standard input."`
	HTML   string   `name:"html" placeholder:"OUT" help:"Write the page as one file that needs no server, and exit."`
	Listen string   `placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"The loopback address to listen on (default: any free port)."`
	Source []string `sep:"none" type:"path" placeholder:"DIR" help:"Also show source files below DIR, beside those below the program's folder; may be given several times."`
	Open   bool     `help:"Open the page in the browser."`
	Exec   string   `placeholder:"ELF" help:"The program that was traced, for the names of its functions, variables and lines. Files that record wrote contain its path."`
	input.Reading
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell view run.tf                          # prints the address of the page; Ctrl-C ends it
  tracewell view run.tf --open                   # and opens it in the browser
  tracewell view run.tf.zst --exec ./server --source ../src
  tracewell view run.tf --html run.html          # one file, to be sent or kept
`
}

// Run implements kong's command. A recording that is damaged is shown as far as it can be read; the damage is the error, so
// that the exit status is 2.
func (c *Command) Run(streams console.Streams, version Version) error {
	if c.HTML != "" && c.Open {
		return errors.New("--open and --html can't be used together: there is no server")
	}
	// Before a large file is opened: a wrong address costs nothing then.
	address, err := loopback(c.Listen)
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
	return errors.Join(Serve(ctx, streams, opened.subject, address, version, c.Open), opened.err)
}

// loopback checks that an address to listen on is of the loopback interface: the page is for the user of this machine.
func loopback(text string) (*net.TCPAddr, error) {
	address, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		return nil, err
	}
	// ":8000" is every address of the machine elsewhere; here only one is meant.
	if address.IP == nil {
		address.IP = net.IPv4(127, 0, 0, 1)
	}
	if !address.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is no loopback address; to look from elsewhere, forward the port, as ssh -L does", text)
	}
	return address, nil
}

// Serve serves the page of a subject until the context ends, and prints its address.
func Serve(
	ctx context.Context, streams console.Streams, subject web.Subject, address *net.TCPAddr, version Version, open bool,
) error {
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	server := web.NewServer(subject, string(version), listener)
	// The address is all of the standard output, so that a script can read it from a pipe.
	fmt.Fprintln(streams.Out, server.URL())
	fmt.Fprintln(streams.Err, "The page is there until Ctrl-C.")
	if open {
		if err := browse(server.URL()); err != nil {
			fmt.Fprintf(streams.Err, "tracewell: --open: %v\n", err)
		}
	}
	return server.Serve(ctx, listener)
}

// openers are the commands by which systems open an address in the browser that their user prefers.
var openers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// browse opens an address and does not wait for the browser.
func browse(url string) error {
	opener := openers[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	return exec.Command(opener[0], append(opener[1:], url)...).Start()
}

// listSources prints the source files that the page can ask for: a program can name any file as its source, so its user should
// see what is shown.
func listSources(w io.Writer, names []wire.SourceName) {
	shown := 0
	for _, n := range names {
		if n.Path != "" {
			if shown == 0 {
				fmt.Fprintln(w, "Source files that the page can show:")
			}
			shown++
			fmt.Fprintf(w, "  %s\n", text.Visible(n.Path))
		}
	}
	if missing := len(names) - shown; missing > 0 {
		fmt.Fprintf(w, "%s not found below the program's folder; --source DIR names other folders\n", text.Plural(missing, "source file"))
	}
}
