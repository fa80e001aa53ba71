package view_test

import (
	"fmt"
	"log"
	"os"

	"tracewell/tfile"
	"tracewell/view"
)

// A View gives the bytes of frames their names. Here the trace comes from GDB's tsave; the program is not at hand, so that the names
// are those of the actions and of the target description. With it, New(file, program) has symbols and types, too.
func Example() {
	content, err := os.ReadFile("../tfile/testdata/queue-basic.tf")
	if err != nil {
		log.Fatal(err)
	}
	file, err := tfile.OpenBytes(content) // a large file is opened by tfile.Open, which reads what is asked for
	if err != nil {
		log.Fatal(err)
	}
	v, warnings := view.New(file, nil)
	for _, warning := range warnings {
		log.Print(warning)
	}
	reader := v.NewReader() // one for each goroutine
	condition, err := v.Condition("$hits > 2")
	if err != nil {
		log.Fatal(err)
	}
	var frame view.Frame
	for i := range 3 { // of v.Content.NumFrames()
		if frame, err = v.Frame(i, frame.Bytes()); err != nil {
			log.Fatal(err)
		}
		reader.Set(frame)
		if !condition.Match(reader) {
			continue // also a frame that does not have $hits
		}
		fmt.Printf("frame %d, tracepoint %d at %s, pc %v\n", frame.Number, frame.Tracepoint(), v.Source(frame.Tracepoint()), frame.PC)
		for _, item := range reader.Items() {
			if item.Slot != nil {
				continue // a register
			}
			if value, ok := reader.Append(nil, item, view.StyleJSON); ok {
				fmt.Printf("  %s = %s\n", item.Name, value)
			}
		}
	}
	// Output:
	// frame 2, tracepoint 2 at queue.c:23, pc 0x4011b5
	//   *(long *)($rbp - 8) = 4210816
	//   *(long *)($rbp - 16) = 4215552
	//   *j = "1500000000000000000000000000e83f6a6f622d3300000000000000000000000000000000000000"
	//   q = "a05240000000000000534000000000000300000000000000e700000000000000"
	//   $hits = 3
}
