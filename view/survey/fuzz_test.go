package survey

import (
	"os"
	"testing"

	"tracewell/symbol"
	"tracewell/symbol/ctype"
	"tracewell/tfile"
	"tracewell/view"
)

// FuzzSurvey goes over whatever a file holds, of a program whose types are known.
func FuzzSurvey(f *testing.F) {
	real, err := os.ReadFile("../../tfile/testdata/queue-basic.tf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(real[:40_000])
	f.Add([]byte("\x7fTRACE0\nR 8\ntp T1:10:E:0:0\n\n\x01\x00\x0d\x00\x00\x00M\x10\x00\x00\x00\x00\x00\x00\x00\x02\x00ab" +
		"\x01\x00\x0d\x00\x00\x00M\x10\x00\x00\x00\x00\x00\x00\x00\x02\x00ac\x00\x00"))
	program, err := symbol.Open("../../tfile/testdata/queue", symbol.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, _ := tfile.OpenBytes(content)
		if file == nil {
			return
		}
		v, _ := view.New(file, program)
		number := func(frame view.Frame) (Reading, bool) {
			return Reading{Number: number64(int64(frame.PC))}, frame.HasPC
		}
		summary := NewSummary(file.Header().Variables, number)
		comparison := NewComparison(v)
		printer := ctype.Printer{Order: file.Header().Order}
		c := Choice{End: min(file.NumFrames(), 32)}
		err := c.Each(t.Context(), v, func(frame view.Frame) error {
			summary.Add(frame, v.Stepped(frame))
			_, changes, _, err := comparison.Compare(frame)
			for _, change := range changes {
				if change.Item == nil {
					continue
				}
				for _, m := range Members(change.Name, change.Item.Type, change.Old, change.New) {
					printer.AppendField(nil, m.Field, m.New)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, figures := range summary.Tracepoints() {
			total := 0
			for _, bin := range figures.Values[0].Histogram() {
				total += bin.Count
			}
			if total != figures.Values[0].Count || total+figures.Values[0].Lacking != figures.Frames {
				t.Errorf("%d values of %d frames, %d in the histogram", figures.Values[0].Count, figures.Frames, total)
			}
		}
	})
}
