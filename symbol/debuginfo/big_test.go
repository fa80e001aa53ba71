package debuginfo

import (
	"testing"

	"tracewell/internal/test/corpus"
)

// BenchmarkFirstTracepoint is what lies between a large program and the first armed tracepoint.
func BenchmarkFirstTracepoint(b *testing.B) {
	program := corpus.Big(b)
	for b.Loop() {
		f, err := Open(program, Options{})
		if err != nil {
			b.Fatal(err)
		}
		found := f.Functions(corpus.BigFunction)
		if len(found) != 1 {
			b.Fatalf("%d functions", len(found))
		}
		code := f.Instances(found[0])
		line, ok := f.LineAt(code[0].EntryPC)
		if !ok || line.Line == 0 {
			b.Fatalf("no line: %v", line)
		}
		if e := f.FunctionAt(code[0].EntryPC); e == nil || e.Offset != code[0].Entry.Offset {
			b.Fatalf("another function: %v", e)
		}
		f.Close()
	}
}
