package record

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/symbol"
	"tracewell/view/wire"
)

// list prints the functions, lines and probes of a program that match --list. Nothing is launched or attached to. The file of a
// process is opened through /proc, where it is the one that runs, though another may have its name by now.
func (c *Command) list(streams console.Streams) error {
	path := c.executable()
	if path == "" {
		return errors.New("record: --list needs the file of a program")
	}
	if len(c.PID) > 0 {
		path = fmt.Sprintf("/proc/%d/exe", c.PID[0])
	}
	reading := readingBar{file: streams.Err}
	defer reading.done()
	program, err := symbol.Open(path, symbol.Options{Progress: reading.set})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer program.Close()
	found, err := program.List(*c.List)
	// The bar is gone before the table is printed, since both may be on one terminal. The second call of done is for early returns.
	reading.done()
	if err != nil {
		return fmt.Errorf("record: --list: %w", err)
	}
	if len(found) == 0 {
		return fmt.Errorf("record: --list: %w", c.unlisted(program))
	}
	return console.Write(streams, func(out *console.Output) error {
		if c.JSON {
			return writeLocationsJSON(out, found)
		}
		return writeLocations(out, found)
	})
}

// unlisted is the error when nothing matches. A pattern without wildcards is looked up as --at would do it, whose error names
// what is spelled alike.
func (c *Command) unlisted(program *symbol.Program) error {
	pattern := *c.List
	// A FILE: pattern and a regular expression are no locations, and would only get an error about their form.
	if !strings.ContainsAny(pattern, "*?[/:") {
		if _, err := program.Locate(pattern); err != nil {
			return err
		}
	}
	return fmt.Errorf("nothing in %s matches %s", text.Visible(c.executable()), text.Quote(pattern))
}

// writeLocations prints a table. Addresses are those of the file: nothing has been loaded, so a position-independent program
// begins at or near 0.
func writeLocations(out *console.Output, found []symbol.Location) error {
	table := text.NewTable(out, out.Width, out.Style,
		text.Column{Title: "address"}, text.Column{Title: "line"}, text.Column{Title: "what"})
	for _, l := range found {
		line := ""
		if l.File != "" {
			line = l.File + ":" + strconv.Itoa(l.Line)
		}
		if err := table.Row(console.CellsOf([]string{l.Addr.String(), text.Visible(line), text.Visible(whatText(l))})); err != nil {
			return err
		}
	}
	return table.Flush()
}

// whatText is the function or the probe at a location. An inlined copy of a function has its own line in the table; an IFUNC's
// symbol is the address of the resolver, which the dynamic linker calls to choose the function. A probe is spelled as --at takes
// it.
func whatText(l symbol.Location) string {
	what := l.Function
	if l.Inlined {
		what += " (inlined)"
	}
	if l.Resolver {
		what += " (chooses the function: IFUNC)"
	}
	if l.Probe != nil {
		what = fmt.Sprintf("-probe %s:%s in %s", l.Probe.Provider, l.Probe.Name, what)
	}
	return what
}

// writeLocationsJSON prints one object per line (wire.Location).
func writeLocationsJSON(out *console.Output, found []symbol.Location) error {
	for _, l := range found {
		if err := jsontext.Write(out, wire.DescribeLocation(l), ""); err != nil {
			return err
		}
	}
	return nil
}
