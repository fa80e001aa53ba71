package show

import (
	"context"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/view/wire"
)

// InfoCommand is "tracewell info": what GDB shows in parts, by "info tracepoints", "tstatus" and "info tvariables", on one page.
// GDB has to load a file for that ("target tfile"); info also prints what GDB does not: sizes, and the source of every guess.
type InfoCommand struct {
	File string `arg:"" help:"The trace file; - is standard input."`
	Exec string `placeholder:"ELF" help:"The program that was traced, for the names of its functions and variables."`
	JSON bool   `name:"json" help:"Print one JSON object."`
	console.Paging
	input.Reading
}

// Examples implements flags.Exampler.
func (*InfoCommand) Examples() string {
	return `  tracewell info run.tf
  tracewell info run.tf --json | jq '.tracepoints[].frames'
`
}

// Run implements kong's command. Other formats that OpenTrace reads have no header, sizes and definitions in the sense of a trace
// file.
func (c *InfoCommand) Run(streams console.Streams) error {
	t, err := c.OpenTrace(c.File, c.Exec, streams)
	if err != nil {
		return err
	}
	defer t.Close()
	if t.View.File == nil { // a folder in CTF
		return fmt.Errorf("%s: is no trace file: tracewell convert makes one of it", t.Name)
	}
	// The context ends when the user quits the pager. The definitions are few enough to print without looking at it.
	return c.Write(streams, func(_ context.Context, out *console.Output) error {
		if c.JSON {
			return errors.Join(console.WriteIndented(out, wire.DescribeFile(t.View, t.Size, t.Err)), t.Err)
		}
		writeHeader(out, t)
		printing.WriteStatus(out, t.View.File.Header().Status)
		printing.WriteTracepoints(out, t)
		printing.WriteVariableDefinitions(out, t.View.File.Header().Variables)
		return t.Err
	})
}

// writeHeader prints what the file says of itself, and for what it does not say, where the answer comes from: the length of a
// register block and the byte order are guessed for files that lack a line or a description.
func writeHeader(out *console.Output, t *input.TraceFile) {
	file := t.View.File
	header := file.Header()
	fmt.Fprintln(out, out.Style.Heading(fmt.Sprintf("%s: trace file, version %d", text.Visible(t.Name), wire.FormatVersion)))
	sizes := wire.SizesOf(t.View.File, t.Size)
	console.Entry(out, "size", "%s: definitions %d, frames %d, the rest %d", text.Plural(t.Size, "byte"), sizes.Definitions,
		sizes.Frames, sizes.Rest)
	console.Entry(out, "frames", "%s", framesText(sizes.Frames, file.NumFrames()))
	console.Entry(out, "register block", "%s, %s", text.Plural(header.RegisterSize, "byte"), file.RegisterSizeSource())
	console.Entry(out, "byte order", "%s, %s", arch.OrderName(header.Order), file.OrderSource())
	if findings := len(file.Findings()); findings > 0 {
		console.Entry(out, "findings", "%d so far, see tracewell check", findings)
	}
	// Without a target description GDB takes the architecture of the program that it has loaded.
	target := t.View.Target
	if target == nil {
		console.Entry(out, "architecture", "not told")
		return
	}
	console.Entry(out, "architecture", "%s", console.OrUnknown(text.Visible(target.Architecture)))
	console.Entry(out, "OS ABI", "%s", console.OrUnknown(text.Visible(target.OSABI)))
	console.Entry(out, "registers", "%d in %s, %s", len(t.View.Layout.Slots), text.Plural(len(target.Features), "feature"),
		text.Plural(t.View.Layout.Size, "byte"))
	// The load bias is not part of GDB's format; record notes it in comments of the target description.
	for _, o := range tfile.Objects(header.Description) {
		console.Entry(out, "loaded", "%v %s", o.Bias, text.Visible(o.Path))
	}
}

// framesText says how many frames there are and how long they are on average, headers included: what a frame costs decides how long
// the next run may be before its buffer is full.
func framesText(size int64, count int) string {
	if count == 0 {
		return "0"
	}
	return fmt.Sprintf("%d, of %s bytes on average", count, printing.Short(float64(size)/float64(count)))
}
