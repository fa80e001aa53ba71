package show

import (
	"fmt"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/symbol/ctype"
	"tracewell/view"
	"tracewell/view/survey"
	"tracewell/view/wire"
)

// statistics gathers figures of frames, in memory that does not grow with their number, and prints them at the end. The price of
// the bound is that some figures are inexact in large files, and then they say so: "or more" behind a count that has stopped,
// "within 1 %" behind percentiles.
//
// Flush comes only after the last frame, so the figures of an interrupted run are not printed: they would look like those of the
// file.
type statistics struct {
	out     *console.Output
	view    *view.View
	json    bool
	exprs   []string
	summary *survey.Summary
}

// newStatistics also measures expressions. They are compiled once, by the names that any tracepoint of the file collects; a frame
// that lacks one of the names counts as without a value, which is no error.
func newStatistics(out *console.Output, v *view.View, exprs []string, asJSON bool) (*statistics, error) {
	s := &statistics{out: out, view: v, json: asJSON, exprs: exprs}
	reader := v.NewReader()
	var values []survey.Value
	for _, text := range exprs {
		e, err := v.Expression(text)
		if err != nil {
			return nil, fmt.Errorf("--value: %w", err)
		}
		// A pointer to text counts by its text, where the frame has it: addresses of equal strings need not be equal.
		values = append(values, func(frame view.Frame) (survey.Reading, bool) {
			reader.Set(frame)
			v, ok := e.Value(reader)
			if !ok {
				return survey.Reading{}, false
			}
			text, isText := reader.Text(v)
			return survey.Reading{Number: v, Text: text, IsText: isText}, true
		})
	}
	s.summary = survey.NewSummary(v.Content.Header().Variables, values...)
	return s, nil
}

// Add implements printing.FrameWriter. Frames of while-stepping are counted apart: they would drown the hits.
func (s *statistics) Add(frame view.Frame) error {
	s.summary.Add(frame, s.view.Stepped(frame))
	return nil
}

// Flush implements printing.FrameWriter: only now the figures are whole.
func (s *statistics) Flush() error {
	if s.json {
		return s.objects()
	}
	tracepoints := s.summary.Tracepoints()
	if len(tracepoints) == 0 {
		fmt.Fprintln(s.out, "no frames")
	}
	for i, t := range tracepoints {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		s.write(t)
	}
	return nil
}

// write prints the figures of a tracepoint.
func (s *statistics) write(t *survey.Figures) {
	title := fmt.Sprintf("Tracepoint %d", t.Tracepoint)
	if source := s.view.Source(t.Tracepoint); source != "" {
		title += ", " + text.Visible(source)
	}
	fmt.Fprintln(s.out, s.out.Style.Heading(title))
	frames := fmt.Sprintf("%d, from %d to %d", t.Frames, t.First, t.Last)
	if t.Steps > 0 {
		frames += fmt.Sprintf("; %d after a step", t.Steps)
	}
	console.Property(s.out, "frames", frames)
	console.Property(s.out, "bytes", fmt.Sprintf("%d, %s a frame", t.Bytes, printing.Short(float64(t.Bytes)/float64(t.Frames))))
	console.Property(s.out, "pc", s.pcs(t))
	console.Property(s.out, "time", times(t))
	for i, text := range s.exprs {
		s.writeValue(text, &t.Values[i])
	}
}

// pcs describes the addresses of the frames: one, or how many different ones and their range. Counting stops at survey.MostPCs,
// so that memory stays bounded with a tracepoint at thousands of inlined locations.
func (s *statistics) pcs(t *survey.Figures) string {
	switch t.PCs {
	case 0:
		return ""
	case 1:
		return string(printing.AppendAddress(nil, s.view, t.Low))
	}
	count := strconv.Itoa(t.PCs)
	if t.PCs == survey.MostPCs {
		count += " or more"
	}
	return fmt.Sprintf("%s, from %s to %s", count, printing.AppendAddress(nil, s.view, t.Low),
		printing.AppendAddress(nil, s.view, t.High))
}

// times is the time from the first to the last frame, and the rate. It needs $trace_timestamp in at least two frames. Only
// differences are computed, so it does not matter from when the clock counts.
func times(t *survey.Figures) string {
	rate, ok := t.Rate()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s, %s frames a second", printing.Seconds(uint64(t.End-t.Start)), printing.Short(rate))
}

// percentages are the percentiles that are printed: the median, and the tail that a mean hides.
var percentages = []int{50, 90, 99}

// writeValue prints the figures of a value.
func (s *statistics) writeValue(name string, m *survey.Measured) {
	fmt.Fprintf(s.out, "  %s\n", s.out.Style.Heading(text.Visible(name)))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(s.out, "    %-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	if m.Lacking > 0 {
		line("lacking", "in %s", text.Plural(m.Lacking, "frame"))
	}
	if m.Count == 0 {
		return
	}
	if m.Texts.Count > 0 {
		s.writeTexts(m)
		return
	}
	// Pointers and enumerations have no mean: neither half an address nor half a name means anything.
	line("values", "%d, from %v to %v", m.Count, valueName(m.Min), valueName(m.Max))
	if t := m.Min.Type; t.Kind != ctype.Pointer && len(t.Values) == 0 {
		line("mean", "%s", printing.Short(m.Mean()))
		about := ""
		if !m.Exact() {
			about = ", within 1 %"
		}
		p := m.Percentiles(percentages...)
		line("median", "%v; 90 %% up to %v, 99 %% up to %v%s", p[0], p[1], p[2], about)
	}
	s.writeHistogram(m.Histogram())
}

// mostTexts is how many texts are listed, the most frequent ones; the number of the others is below them. JSON lists all that were
// counted.
const mostTexts = 20

// writeTexts prints how often the texts came that pointers lead to.
func (s *statistics) writeTexts(m *survey.Measured) {
	all := m.Texts.Frequent()
	listed := all[:min(len(all), mostTexts)]
	different := strconv.Itoa(len(all))
	if m.Texts.Other > 0 {
		different += " or more"
	}
	without := ""
	if n := m.Count - m.Texts.Count; n > 0 {
		without = fmt.Sprintf("; %s without one", text.Plural(n, "frame"))
	}
	fmt.Fprintf(s.out, "    %-10s%d, %s different%s\n", "texts", m.Texts.Count, different, without)
	names, counts := make([]string, len(listed)), make([]int, len(listed))
	for i, t := range listed {
		names[i], counts[i] = text.Quote(t.Text), t.Count
	}
	printing.WriteBars(s.out, names, counts)
	if more := len(all) - len(listed); more > 0 {
		fmt.Fprintf(s.out, "    … %d more …\n", more)
	}
}

// writeHistogram draws bins, each with the value or the two that it lies between.
func (s *statistics) writeHistogram(bins []survey.Bin) {
	names, counts := make([]string, len(bins)), make([]int, len(bins))
	for i, bin := range bins {
		names[i], counts[i] = valueName(bin.Low), bin.Count
		if bin.Low != bin.High {
			names[i] += " … " + valueName(bin.High)
		}
	}
	printing.WriteBars(s.out, names, counts)
}

// valueName is a value as a histogram has it: of an enumeration by its name. Names come from the debug information of a program
// that anybody may have built, so they pass through text.Visible like all that files contain: an escape sequence must not reach a
// terminal.
func valueName(v ctype.Number) string {
	for _, e := range v.Type.Values {
		if uint64(e.Value) == v.Bits {
			return text.Visible(e.Name)
		}
	}
	return v.String()
}

// objects prints the figures as JSON, an object for each tracepoint. No frames are no objects: an empty output is what jq and other
// readers of JSON lines take for none.
func (s *statistics) objects() error {
	for _, t := range s.summary.Tracepoints() {
		object := wire.DescribeFigures(t, s.view.Source(t.Tracepoint), s.exprs, percentages)
		if err := jsontext.Write(s.out, object, ""); err != nil {
			return err
		}
	}
	return nil
}
