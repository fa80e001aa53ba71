package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/trace"
)

// infoCommand is "tracewell info".
type infoCommand struct {
	File string `arg:"" help:"The trace file; - is standard input."`
	Exec string `placeholder:"ELF" help:"The program that was traced, for the names of its functions and variables."`
	JSON bool   `name:"json" help:"Print one JSON object."`
	pagerOption
	readingOptions
}

// Examples implements exampler.
func (*infoCommand) Examples() string {
	return `  tracewell info run.tf
  tracewell info run.tf --json | jq '.tracepoints[].frames'
`
}

// Run implements kong's command.
func (c *infoCommand) Run(streams Streams) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	t, err := openTrace(c.File, c.Exec, streams, opts...)
	if err != nil {
		return err
	}
	defer t.close()
	if t.view.File == nil {
		return fmt.Errorf("%s: is no trace file: tracewell convert makes one of it", t.name)
	}
	return c.write(streams, func(_ context.Context, out *output) error {
		if c.JSON {
			return errors.Join(writeIndented(out, describe(t)), t.err)
		}
		writeHeader(out, t)
		writeStatus(out, t.view.File.Header().Status)
		writeTracepoints(out, t)
		writeVariableDefinitions(out, t.view.File.Header().Variables)
		return t.err
	})
}

// entry prints a line of the header or the status.
func entry(out *output, name, format string, args ...any) {
	fmt.Fprintf(out, "%-17s%s\n", name, fmt.Sprintf(format, args...))
}

func writeHeader(out *output, t *traceFile) {
	file := t.view.File
	header := file.Header()
	fmt.Fprintln(out, out.style.Heading(fmt.Sprintf("%s: trace file, version %d", text.Visible(t.name), formatVersion)))
	sizes := sizesOf(t)
	entry(out, "size", "%s: definitions %d, frames %d, the rest %d", text.Plural(t.size, "byte"), sizes.definitions, sizes.frames, sizes.rest)
	entry(out, "frames", "%s", sizes.framesText(file.NumFrames()))
	entry(out, "register block", "%s, %s", text.Plural(header.RegisterSize, "byte"), file.RegisterSizeSource())
	entry(out, "byte order", "%s, %s", arch.OrderName(header.Order), file.OrderSource())
	if findings := len(file.Findings()); findings > 0 {
		entry(out, "findings", "%d so far, see tracewell check", findings)
	}
	target := t.view.Target
	if target == nil {
		entry(out, "architecture", "not told")
		return
	}
	entry(out, "architecture", "%s", orUnknown(text.Visible(target.Architecture)))
	entry(out, "OS ABI", "%s", orUnknown(text.Visible(target.OSABI)))
	entry(out, "registers", "%d in %s, %s", len(t.view.Layout.Slots), text.Plural(len(target.Features), "feature"),
		text.Plural(t.view.Layout.Size, "byte"))
	for _, o := range tfile.Objects(header.Description) {
		entry(out, "loaded", "%v %s", o.Bias, text.Visible(o.Path))
	}
}

// sizes are the bytes of the parts of a file.
type sizes struct {
	definitions int64 // with the lines that begin and end them
	frames      int64
	rest        int64 // the end marker, and what is behind it or cannot be read
}

// sizesOf takes a file apart. A frame that cannot be read counts as rest.
func sizesOf(t *traceFile) sizes {
	file := t.view.File
	s := sizes{definitions: file.End()}
	if count := file.NumFrames(); count > 0 {
		first, err := file.Frame(0)
		last, lastErr := file.Frame(count - 1)
		if err == nil && lastErr == nil {
			s.definitions = first.Offset()
			s.frames = last.Offset() + int64(len(last.Bytes())) - first.Offset()
		}
	}
	s.rest = max(t.size-s.definitions-s.frames, 0)
	return s
}

// framesText says how many frames there are and how long.
func (s sizes) framesText(count int) string {
	if count == 0 {
		return "0"
	}
	return fmt.Sprintf("%d, of %s bytes on average", count, short(float64(s.frames)/float64(count)))
}

func orUnknown(s string) string {
	if s == "" {
		return "not told"
	}
	return s
}

func writeStatus(out *output, status *trace.Status) {
	fmt.Fprintln(out, "\n"+out.style.Heading("Trace run"))
	if status == nil {
		fmt.Fprintln(out, "not told")
		return
	}
	entry(out, "state", "%s", stateText(status))
	if status.Frames >= 0 {
		entry(out, "frames", "%s", framesText(status))
	}
	if status.Free >= 0 && status.Size >= 0 {
		entry(out, "trace buffer", "%s", bufferText(status))
	}
	if status.Disconnected {
		entry(out, "disconnected", "the run goes on when GDB leaves")
	}
	if status.StartTime != 0 {
		entry(out, "started", "%s", timeText(status.StartTime))
	}
	if status.StopTime != 0 {
		entry(out, "stopped", "%s%s", timeText(status.StopTime), afterText(status))
	}
	if status.User != "" {
		entry(out, "user", "%s", text.Visible(status.User))
	}
	if status.Notes != "" {
		entry(out, "notes", "%s", text.Visible(status.Notes))
	}
}

// byNumber returns the tracepoints in the order of their numbers and addresses; files have them the other way round for
// GDB's sake.
func byNumber(tracepoints []trace.Tracepoint) []trace.Tracepoint {
	return slices.SortedStableFunc(slices.Values(tracepoints), func(a, b trace.Tracepoint) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Addr, b.Addr))
	})
}

func writeTracepoints(out *output, t *traceFile) {
	frames := t.framesByTracepoint()
	for _, tracepoint := range byNumber(t.view.File.Header().Tracepoints) {
		fmt.Fprintln(out)
		writeDefinition(out, t.view, &tracepoint)
		property(out, "hits", fmt.Sprintf("%d, %s of the trace buffer", tracepoint.Hits, text.Plural(tracepoint.Usage, "byte")))
		property(out, "frames", fmt.Sprintf("%d in this file", frames[tracepoint.Number]))
		delete(frames, tracepoint.Number)
	}
	var others []string
	for number, count := range frames {
		others = append(others, fmt.Sprintf("%d (%s)", number, text.Plural(count, "frame")))
	}
	if len(others) > 0 {
		slices.Sort(others)
		fmt.Fprintf(out, "\nFrames of tracepoints that the file does not define: %s\n", strings.Join(others, ", "))
	}
}

func (t *traceFile) framesByTracepoint() map[trace.Number]int {
	counts := make(map[trace.Number]int)
	for i := range t.view.File.NumFrames() {
		counts[t.view.File.Tracepoint(i)]++
	}
	return counts
}

func writeVariableDefinitions(out *output, variables []trace.Variable) {
	if len(variables) == 0 {
		return
	}
	fmt.Fprintln(out, "\n"+out.style.Heading("Trace state variables"))
	for _, v := range variables {
		builtin := ""
		if v.Builtin {
			builtin = ", built in"
		}
		fmt.Fprintf(out, "$%-16s%d initially%s\n", text.Visible(v.Name), v.Initial, builtin)
	}
}
