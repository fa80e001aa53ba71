package printing

import (
	"fmt"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/view"
	"tracewell/view/survey"
	"tracewell/view/wire"
)

// StackCounter is a FrameWriter that counts the stacks of frames, and prints them at the end: as text, folded, or as JSON. Its
// memory has the bounds of survey.Stacks.
type StackCounter struct {
	out     *console.Output
	options flags.Stacks
	json    bool
	reader  *view.Reader
	stacks  survey.Stacks
}

// NewStackCounter counts stacks of frames of whatever view it is given by Adopt. The view changes during a run, when a library is
// loaded; counts go on.
func NewStackCounter(out *console.Output, options flags.Stacks, json bool) *StackCounter {
	c := &StackCounter{out: out, options: options, json: json, stacks: survey.Stacks{Callers: int(options.By), Text: written}}
	if options.Folded {
		c.stacks.Text = (*view.Backtrace).Folded
	}
	return c
}

// written is a stack with lines, and modules where there are none.
func written(b *view.Backtrace) string { return string(b.AppendText(nil)) }

// Adopt has the frames that follow looked up in a view. It is to be called before Add, and not at the same time.
func (c *StackCounter) Adopt(v *view.View) { c.reader = v.NewReader() }

// Add implements FrameWriter. Frames without a stack are counted as such: an empty result has to explain itself.
func (c *StackCounter) Add(frame view.Frame) error {
	c.reader.Set(frame)
	c.stacks.Add(c.reader.Backtrace())
	return nil
}

// topByDefault is how many stacks people are shown who did not say how many.
const topByDefault = 20

// Flush implements FrameWriter.
func (c *StackCounter) Flush() error {
	all := c.stacks.Frequent()
	// Programs that read the output want all. On a terminal the stacks that matter would scroll away, as a program of some
	// size has hundreds.
	most := int(c.options.Top)
	if most == 0 && !c.json && !c.options.Folded {
		most = topByDefault
	}
	listed := all
	if most > 0 {
		listed = all[:min(len(all), most)]
	}
	switch {
	case c.json:
		for _, s := range listed {
			if err := jsontext.Write(c.out, wire.DescribeStack(s), ""); err != nil {
				return err
			}
		}
		return nil
	case c.options.Folded:
		for _, s := range listed {
			fmt.Fprintf(c.out, "%s %d\n", s.Text, s.Count)
		}
	default:
		c.write(listed, len(all))
	}
	_, err := c.out.Write(nil) // the first error of the writes above
	return err
}

// write prints stacks for people: in front the count and its share of all frames with a stack, then one call on a line, and
// at the end how many stacks there were.
func (c *StackCounter) write(listed []survey.StackCount, different int) {
	width := 0 // of the first, which is the largest number
	if len(listed) > 0 {
		width = len(strconv.Itoa(listed[0].Count))
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(c.stacks.Count) }
	shown := 0
	// Stacks of several lines are set apart by an empty one; a list of callers is a table.
	for i, s := range listed {
		shown += s.Count
		lines := callLines(&s.Backtrace)
		if len(lines) == 0 { // of the outermost function with --by
			lines = []string{"(no caller)"}
		}
		if i > 0 && c.options.By != 1 {
			fmt.Fprintln(c.out)
		}
		fmt.Fprintf(c.out, "%*d  %5.1f %%  %s\n", width, s.Count, share(s.Count), lines[0])
		for _, line := range lines[1:] {
			fmt.Fprintf(c.out, "%*s%s\n", width+len("  100.0 %  "), "", line)
		}
	}
	if len(listed) > 0 {
		fmt.Fprintln(c.out)
	}
	fmt.Fprintln(c.out, c.summary(different))
	if n := different - len(listed); n > 0 {
		fmt.Fprintf(c.out, "%s more, of %s: --top prints them\n",
			text.Plural(n, "stack"), text.Plural(c.stacks.Count-shown, "frame"))
	}
	if n := c.stacks.Truncated; n > 0 {
		fmt.Fprintf(c.out, "%s cut off (%.1f %%)\n", text.Plural(n, "stack"), share(n))
	}
}

// summary is "10000 frames, 37 different stacks", with what was left out: stacks beyond the bound, and frames of tracepoints
// that do not collect the stack.
func (c *StackCounter) summary(different int) string {
	s := fmt.Sprintf("%s, %s", text.Plural(c.stacks.Count, "frame"), text.Plural(different, "different stack"))
	if c.stacks.Other > 0 {
		s += " or more"
	}
	if n := c.stacks.Lacking; n > 0 {
		s += fmt.Sprintf("; %s without a stack (record --backtrace collects it)", text.Plural(n, "frame"))
	}
	return s
}

// callLines are the calls of a stack, the innermost first, and why it is cut off. They have no addresses, which differ from run to
// run, and from hit to hit within a line.
func callLines(b *view.Backtrace) []string {
	var lines []string
	for i := range b.Calls {
		line := text.Visible(b.Calls[i].String())
		if b.Calls[i].Inlined {
			line += ", inlined"
		}
		lines = append(lines, line)
	}
	if b.End != nil {
		lines = append(lines, "… cut off: "+text.Visible(b.End.Error()))
	}
	return lines
}
