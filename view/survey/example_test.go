package survey_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/survey"
)

// A Choice finds frames, a Comparison tells what changed between those of one tracepoint, and a Summary gathers figures of all.
func Example() {
	content, err := os.ReadFile("../../tfile/testdata/queue-basic.tf")
	if err != nil {
		log.Fatal(err)
	}
	file, err := tfile.OpenBytes(content)
	if err != nil {
		log.Fatal(err)
	}
	v, _ := view.New(file, nil)
	if err := v.Select([]string{"rdi"}); err != nil { // compare this register only
		log.Fatal(err)
	}
	choice := survey.Choice{End: v.Content.NumFrames(), Tracepoints: []trace.Number{2}, Limit: 2}
	comparison, summary := survey.NewComparison(v), survey.NewSummary(v.Content.Header().Variables)
	err = choice.Each(context.Background(), v, func(frame view.Frame) error {
		summary.Add(frame, v.Stepped(frame))
		since, changes, ok, err := comparison.Compare(frame)
		if err != nil || !ok {
			return err // the first frame has none before it
		}
		for _, c := range changes {
			fmt.Printf("frame %d, since frame %d: %s was %x, is %x\n", frame.Number, since, c.Name, c.Old, c.New)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range summary.Tracepoints() {
		fmt.Printf("tracepoint %d: %d frames, %d bytes, pc %v\n", f.Tracepoint, f.Frames, f.Bytes, f.Low)
	}
	// Output:
	// frame 1, since frame 0: *(long *)($rbp - 16) was a052400000000000, is d052400000000000
	// frame 1, since frame 0: *j was 0700000000000000000000000000d03f6a6f622d3100000000000000000000000000000000000000, is 0e00000000000000000000000000e03f6a6f622d3200000000000000000000000000000000000000
	// frame 1, since frame 0: q was a052400000000000a05240000000000001000000000000000000000000000000, is a052400000000000d05240000000000002000000000000000700000000000000
	// frame 1, since frame 0: $hits was 0100000000000000, is 0200000000000000
	// tracepoint 2: 2 frames, 5182 bytes, pc 0x4011b5
}
