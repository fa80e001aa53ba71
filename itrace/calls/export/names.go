package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tracewell/internal/pprofile"
	"tracewell/itrace/calls"
)

// Calls are the calls of a trace that has been read.
type Calls struct {
	*calls.Walker
	Program string // the path of its program; "" if it is not known
	// Line is the line of an address; nil if there are none.
	Line func(pc uint64) (path string, line int, ok bool)
}

// Name is what a function is called: its address if it has no name.
func Name(f calls.Function) string {
	if f.Name != "" {
		return f.Name
	}
	return fmt.Sprintf("0x%x", f.Begin)
}

// Frame is the name of a node in a stack. The first function of a handler is marked, so that interrupts stand beside what they
// interrupt.
func (c *Calls) Frame(n int) string {
	node := &c.Nodes[n]
	name := Name(c.Functions[node.Function])
	if node.Handler && node.Parent == 0 {
		return "[handler] " + name
	}
	return name
}

func (c *Calls) line(pc uint64) (path string, line int) {
	if c.Line != nil {
		path, line, _ = c.Line(pc)
	}
	return path, line
}

// folding replaces what has a meaning in folded stacks.
var folding = strings.NewReplacer(";", ":", "\n", " ")

// WriteFolded writes a line for each path, with its instructions, or with its time.
func (c *Calls) WriteFolded(out io.Writer, time bool) error {
	totals := make(map[string]uint64)
	for i := range c.Nodes {
		value := c.Nodes[i].Self
		if time {
			value = c.Nodes[i].Time
		}
		if value == 0 {
			continue
		}
		var names []string
		for _, n := range c.Path(i) {
			names = append(names, folding.Replace(c.Frame(n)))
		}
		totals[strings.Join(names, ";")] += value
	}
	w := bufio.NewWriter(out)
	for _, path := range slices.Sorted(maps.Keys(totals)) {
		fmt.Fprintf(w, "%s %d\n", path, totals[path])
	}
	return w.Flush()
}

// WriteProfile writes a profile of pprof, with times in a unit unless that is "".
func (c *Calls) WriteProfile(out io.Writer, unit string) error {
	p := pprofile.New()
	if unit != "" {
		p.SampleType("time", unit)
	}
	p.SampleType("instructions", "count") // pprof shows the last unless it is told another
	var mapping uint64
	if c.Program != "" {
		mapping = p.Mapping(c.Program)
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Self == 0 && n.Time == 0 {
			continue
		}
		var locations []uint64
		for _, at := range slices.Backward(c.Path(i)) {
			f := c.Functions[c.Nodes[at].Function]
			path, line := c.line(f.Begin)
			locations = append(locations, p.Location(mapping, f.Begin, []pprofile.Line{{Function: c.Frame(at), File: path, Line: line}}))
		}
		values := []uint64{n.Time, n.Self}
		if unit == "" {
			values = values[1:]
		}
		p.Sample(locations, values)
	}
	_, err := out.Write(p.Message)
	return err
}
