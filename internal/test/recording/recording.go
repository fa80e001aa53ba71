// Package recording is what tests of recordings have in common: plans, and the files that come of them.
package recording

import (
	"fmt"
	"os"
	"testing"

	"tracewell/record/plan"
	"tracewell/tfile"
	"tracewell/trace"
)

// Plan makes a plan of a script of GDB's commands.
func Plan(t testing.TB, script string) *plan.Plan {
	t.Helper()
	var p plan.Plan
	if err := p.AddScript("test", script); err != nil {
		t.Fatal(err)
	}
	return &p
}

// File opens a trace file, which must be flawless.
func File(t testing.TB, path string) *tfile.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	if findings := f.Findings(); len(findings) > 0 {
		t.Errorf("%s: %v", path, findings)
	}
	return f
}

// Count is how many frames a tracepoint has.
func Count(f *tfile.File, n trace.Number) (frames int) {
	for i := range f.NumFrames() {
		if f.Tracepoint(i) == n {
			frames++
		}
	}
	return frames
}

// Contents lists what the frames hold, but for registers and addresses, which differ from process to process.
func Contents(t testing.TB, f *tfile.File) (all []string) {
	t.Helper()
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(frame.Tracepoint())
		for b := range frame.Blocks() {
			switch b.Kind {
			case tfile.BlockMemory:
				text += fmt.Sprintf(" %x", b.Bytes)
			case tfile.BlockVariable:
				text += fmt.Sprintf(" $%d=%d", b.Number, b.Value)
			}
		}
		all = append(all, text)
	}
	return all
}
