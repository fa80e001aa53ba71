package show

import (
	"fmt"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/view"
)

// writeBacktrace prints the active calls of a frame, as GDB's backtrace does without their arguments. A frame whose stack was not
// collected has none.
func writeBacktrace(out *console.Output, reader *view.Reader) {
	b := reader.Backtrace()
	if len(b.Calls) == 0 {
		return
	}
	fmt.Fprintln(out, "\n"+out.Style.Heading("Backtrace"))
	// GDB pads the numbers so that calls up to the hundredth stand below one another.
	for i := range b.Calls {
		fmt.Fprintf(out, "#%-3d%s\n", i, callText(&b.Calls[i]))
	}
	if b.End != nil {
		fmt.Fprintf(out, "backtrace stops here: %s\n", text.Visible(b.End.Error()))
	}
}

// callText is "0x401131 in push (queue.c:12)". An inlined call has no address of its own.
func callText(c *view.Call) string {
	name := text.Visible(c.String())
	switch {
	case c.Signal:
		return name
	case c.Inlined:
		return name + ", inlined"
	case c.Guessed:
		name += ", by the frame pointer"
	}
	return c.Addr.String() + " in " + name
}
