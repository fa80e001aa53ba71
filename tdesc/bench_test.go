package tdesc_test

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/tdesc"
)

// large is a description of 600 registers.
func large() []byte {
	var doc strings.Builder
	doc.WriteString("<?xml version=\"1.0\"?>\n<target version=\"1.0\">\n<feature name=\"large\">\n")
	for i := range 600 {
		fmt.Fprintf(&doc, "  <reg name=\"r%d\" bitsize=\"64\" type=\"int64\" regnum=\"%d\" group=\"general\"/>\n", i, i)
	}
	doc.WriteString("</feature>\n</target>\n")
	return []byte(doc.String())
}

// BenchmarkParse has the budget of a millisecond for a large description and its layout.
func BenchmarkParse(b *testing.B) {
	doc := large()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		target, _, err := tdesc.Parse(doc, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := target.Layout(); err != nil {
			b.Fatal(err)
		}
	}
}
