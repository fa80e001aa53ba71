package testprog

import (
	"strconv"
	"strings"
	"testing"
)

// Record is one line that a test program printed: "work worker=1 round=0" is of kind "work" and has two fields.
type Record struct {
	Kind   string
	Fields map[string]string
}

// Records reads a program's output. Words without "=" after the first are ignored, and so are lines that other programs
// printed in between, as long as the caller looks for its kinds only.
func Records(output string) []Record {
	var records []Record
	for line := range strings.Lines(output) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		record := Record{Kind: words[0], Fields: map[string]string{}}
		for _, word := range words[1:] {
			if name, value, ok := strings.Cut(word, "="); ok {
				record.Fields[name] = value
			}
		}
		records = append(records, record)
	}
	return records
}

// OfKind returns the records of one kind, in order.
func OfKind(records []Record, kind string) []Record {
	var found []Record
	for _, r := range records {
		if r.Kind == kind {
			found = append(found, r)
		}
	}
	return found
}

// Int returns a field as a decimal integer and fails the test when it is not one.
func (r Record) Int(t testing.TB, field string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(r.Fields[field], 10, 64)
	if err != nil {
		t.Fatalf("field %q of %v: %v", field, r, err)
	}
	return n
}
