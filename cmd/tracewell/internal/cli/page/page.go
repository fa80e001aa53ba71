// Package page serves pages of package web for commands: view, and record while it records.
package page

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/view/wire"
	"tracewell/web"
)

// Version is that of Tracewell, which pages show.
type Version string

// Loopback checks that an address to listen on is of the loopback interface: a page is for the user of this machine.
func Loopback(text string) (*net.TCPAddr, error) {
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

// Place is where a page is served.
type Place struct {
	Address *net.TCPAddr
	Open    bool // in the browser
}

// Serve serves the page of a subject until the context ends, which is no error: Ctrl-C is how a page is meant to end. It prints the
// address alone to out, so that a script can read it from a pipe, and the rest to messages. The address contains the token without
// which the server answers nothing, so whoever may read what the command prints may look at the page.
func Serve(ctx context.Context, out, messages io.Writer, subject web.Subject, place Place, version Version) error {
	listener, err := net.ListenTCP("tcp", place.Address)
	if err != nil {
		return err
	}
	defer listener.Close()
	server := web.NewServer(subject, string(version), listener)
	if _, err := fmt.Fprintln(out, server.URL()); err != nil {
		return err
	}
	// Without a browser the page is there all the same, and its address has been printed.
	if place.Open {
		if err := browse(server.URL()); err != nil {
			fmt.Fprintf(messages, "tracewell: --open: %v\n", err)
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

// mostListed is how many source files are listed. A program has thousands when everything in it is traced.
const mostListed = 100

// ListSources prints the source files that a page can ask for: a program can name any file as its source, so its user should see
// what is shown.
func ListSources(streams console.Streams, names []wire.SourceName) {
	shown := 0
	for _, n := range names {
		if n.Path == "" {
			continue
		}
		if shown == 0 {
			fmt.Fprintln(streams.Err, "Source files that the page can show:")
		}
		// The name of a file, too, comes from the program.
		if shown++; shown <= mostListed {
			fmt.Fprintf(streams.Err, "  %s\n", text.Visible(n.Path))
		}
	}
	if shown > mostListed {
		fmt.Fprintf(streams.Err, "  and %d more\n", shown-mostListed)
	}
	if missing := len(names) - shown; missing > 0 {
		fmt.Fprintf(streams.Err, "%s not found below the program's folder; --source DIR names other folders\n",
			text.Plural(missing, "source file"))
	}
}
