package index

import (
	"bytes"
	"testing"

	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
)

// BenchmarkBuild reads a trace of 40 MB.
func BenchmarkBuild(b *testing.B) {
	text, _ := generated(b, generate.Options{Instructions: 500_000})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var out bytes.Buffer
		if _, err := Build(bytes.NewReader(text), matcher.Dialect, Identity{}, &out); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*float64(out.Len())/float64(len(text)), "%")
	}
}
