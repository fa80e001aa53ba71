// Package dialecttest is what every dialect has to hold to, for the tests of its package.
package dialecttest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tracewell/itrace"
	"tracewell/itrace/jsonl"
)

// mostRecords is more than any text of a test has.
const mostRecords = 1 << 20

// Read returns all records of a trace, read in some batches.
func Read(t testing.TB, d *itrace.Dialect, in io.Reader, batch int) (all []itrace.Record) {
	t.Helper()
	r := itrace.NewReader(in, d)
	records := make([]itrace.Record, batch)
	for {
		n, err := r.Read(records)
		for i := range n {
			all = append(all, records[i].Clone())
		}
		if len(all) > mostRecords {
			t.Fatalf("more than %d records, the last at line %d: the decoder does not go on", mostRecords, all[len(all)-1].Line)
		}
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// pieces gives a few bytes at once.
type pieces struct {
	in   io.Reader
	size func() int
}

func (p pieces) Read(b []byte) (int, error) { return p.in.Read(b[:min(len(b), p.size())]) }

// said is all that there is of a record, as text, with its place or without.
func said(r *itrace.Record, placed bool) string {
	text := jsonl.Append(nil, r)
	if placed {
		text = fmt.Appendf(text, " line %d at %d: %q", r.Line, r.Offset, r.Text)
	}
	if r.Kind == itrace.Unknown {
		text = append(append(text, ' '), r.Problem.Error()...)
	}
	return string(text)
}

// checkSame compares records with some that are wanted.
func checkSame(t *testing.T, what string, want, got []itrace.Record, placed bool) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			t.Fatalf("%s: %d records, want %d", what, len(got), len(want))
		case i >= len(want):
			t.Fatalf("%s: %d records, want %d", what, len(got), len(want))
		}
		if w, g := said(&want[i], placed), said(&got[i], placed); w != g {
			t.Fatalf("%s: record %d is\n%s\nwant\n%s", what, i, g, w)
		}
	}
}

// Run checks a text of a dialect: reading it in pieces of every size comes to the same records, and so does going on from the state
// at every place where there is one; and what the records are as JSON lines comes back.
func Run(t *testing.T, d *itrace.Dialect, text string) {
	t.Helper()
	want := Read(t, d, strings.NewReader(text), 1<<10)
	checkPieces(t, d, text, want)
	checkStates(t, d, text, want)
	checkJSON(t, want)
}

// long is how many bytes a text has that is not read in all ways.
const long = 1 << 16

func checkPieces(t *testing.T, d *itrace.Dialect, text string, want []itrace.Record) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(len(text))))
	for _, batch := range []int{1, 2, 7, 512} {
		in := pieces{strings.NewReader(text), func() int { return 1 + random.IntN(40*batch) }}
		checkSame(t, fmt.Sprintf("in pieces, %d records at once", batch), want, Read(t, d, in, batch), true)
		if len(text) > long {
			continue
		}
		checkSame(t, "byte by byte", want, Read(t, d, iotest.OneByteReader(strings.NewReader(text)), batch), true)
		checkSame(t, "with the end", want, Read(t, d, iotest.DataErrReader(strings.NewReader(text)), batch), true)
	}
}

// checkStates reads on from each place between two reads, with the state there.
func checkStates(t *testing.T, d *itrace.Dialect, text string, want []itrace.Record) {
	t.Helper()
	const (
		firstPlaces = 50
		everyPlace  = 97
		enough      = 200 // records behind a place in a long text
	)
	r := itrace.NewReader(strings.NewReader(text), d)
	records, some := make([]itrace.Record, 1), make([]itrace.Record, 40)
	for read, places := 0, 0; ; {
		n, err := r.Read(records)
		if err == io.EOF {
			break
		}
		if read += n; !r.Between() {
			continue
		}
		lines, offset := r.Position()
		if places++; len(text) > long && places > firstPlaces && places%everyPlace != 0 {
			continue
		}
		state := r.AppendState(nil)
		again := itrace.NewReader(strings.NewReader(text[offset:]), d)
		if err := again.Begin(lines, offset, state); err != nil {
			t.Fatalf("line %d: the state %x: %v", lines+1, state, err)
		}
		if same := again.AppendState(nil); !bytes.Equal(same, state) {
			t.Fatalf("line %d: the state %x restored is %x", lines+1, state, same)
		}
		rest := want[read:]
		for len(rest) > 0 && (len(text) <= long || len(want)-read-len(rest) < enough) {
			n, err := again.Read(some)
			if err != nil {
				t.Fatalf("from line %d on there are %d records less", lines+1, len(rest))
			}
			checkSame(t, fmt.Sprintf("from line %d on", lines+1), rest[:min(n, len(rest))], some[:n], true)
			rest = rest[n:]
		}
	}
}

// checkJSON writes records as JSON lines and reads them again.
func checkJSON(t *testing.T, want []itrace.Record) {
	t.Helper()
	text := jsonl.Dialect.Append(nil, want)
	var known, got []itrace.Record
	for _, r := range Read(t, jsonl.Dialect, bytes.NewReader(text), 100) {
		if r.Kind != itrace.Unknown {
			got = append(got, r)
		}
	}
	for _, r := range want {
		if r.Kind != itrace.Unknown {
			known = append(known, r)
		}
	}
	checkSame(t, "as JSON lines and back", known, got, false)
}

// Problem says what is wrong with a text, in words: that of its last record, empty if that can be read. It returns how many records
// there are, too.
func Problem(t testing.TB, d *itrace.Dialect, text string) (problem string, records int) {
	t.Helper()
	all := Read(t, d, strings.NewReader(text), 8)
	if last := all[len(all)-1]; last.Kind == itrace.Unknown {
		problem = last.Problem.Error()
	}
	return problem, len(all)
}

// Lines says what the records of a text are, in JSON, behind the numbers of their lines.
func Lines(t testing.TB, d *itrace.Dialect, text string) (lines []string) {
	t.Helper()
	for _, r := range Read(t, d, strings.NewReader(text), 64) {
		line := fmt.Sprintf("%d %s", r.Line, jsonl.Append(nil, &r))
		if r.Kind == itrace.Unknown {
			line += " " + r.Problem.Error()
		}
		lines = append(lines, line)
	}
	return lines
}

// RoundTrip checks that a text that the dialect has written comes back byte by byte, and that Append is given records of all kinds.
func RoundTrip(t *testing.T, d *itrace.Dialect, text string) {
	t.Helper()
	if got := Written(d, Read(t, d, strings.NewReader(text), 512)); got != text {
		diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(got, "\n"))
		t.Fatalf("other bytes are written (-want +got):\n%s", diff[:min(len(diff), 3000)])
	}
}

// Written is the text of records in a dialect.
func Written(d *itrace.Dialect, records []itrace.Record) string {
	var text []byte
	w, begin := d.Writer(), 1
	if d.Leads {
		begin = 0
	}
	for len(records) > 0 {
		n := 1 + slices.IndexFunc(records[begin:], func(r itrace.Record) bool { return r.Kind == itrace.Instruction })
		if n == 0 {
			n = len(records)
		}
		text, records = w.Append(text, records[:n]), records[n:]
	}
	return string(w.Finish(text))
}

// Allocations fails if a text takes more memory when it is twenty times as long.
func Allocations(t *testing.T, d *itrace.Dialect, text string) {
	t.Helper()
	records := make([]itrace.Record, 512)
	read := func(rounds int) float64 {
		data := bytes.Repeat([]byte(text), rounds)
		return testing.AllocsPerRun(5, func() {
			r := itrace.NewReader(bytes.NewReader(data), d)
			for {
				if _, err := r.Read(records); err != nil {
					return
				}
			}
		})
	}
	if once, often := read(1), read(20); often > once+20 { // buffers that grow to what the largest unit needs
		t.Errorf("%v allocations for a trace, %v for one twenty times as long", once, often)
	}
}

// Benchmark reads a text again and again.
func Benchmark(b *testing.B, d *itrace.Dialect, text string) {
	data := bytes.Repeat([]byte(text), 1+1<<22/len(text))
	records := make([]itrace.Record, 128)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := itrace.NewReader(bytes.NewReader(data), d)
		for {
			if _, err := r.Read(records); err != nil {
				break
			}
		}
	}
}

// Fuzz checks arbitrary texts, beginning with some, that reading in pieces and from states comes to the same, and that what the
// dialect writes of its records, if it does, it reads as the same again.
func Fuzz(f *testing.F, d *itrace.Dialect, texts ...string) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1<<12)]
		Run(t, d, text)
		if !d.Written() {
			return
		}
		once := Written(d, Read(t, d, strings.NewReader(text), 512))
		if again := Written(d, Read(t, d, strings.NewReader(once), 512)); again != once {
			t.Fatalf("%q is written as\n%s\nand that as\n%s", text, once, again)
		}
	})
}
