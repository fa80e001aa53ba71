package itrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// words is a dialect whose records name a register each: "r8 1f".
var words = &Dialect{Name: "words", New: func(Settings) Decoder { return Lines(wordParser{}) }, Append: EachRecord(func(dst []byte, r *Record) []byte {
	return append(append(append(dst, r.Name...), ' '), r.Digits...)
})}

type wordParser struct{ Stateless }

// Parse implements Parser.
func (wordParser) Parse(line []byte, r *Record) *SyntaxError {
	name, digits, _ := bytes.Cut(line, []byte{' '})
	value, wild, ok := ParseDigits(digits)
	if !ok {
		return Mismatch(line, min(len(name)+1, len(line)), "digits")
	}
	r.Kind, r.Name, r.Digits, r.Value, r.Wild = Register, name, digits, value, wild
	return nil
}

// told is what a record says, as a line.
func told(r *Record) string {
	if r.Kind == Unknown {
		return fmt.Sprintf("%d at %d: %q: %v", r.Line, r.Offset, r.Text, r.Problem)
	}
	return fmt.Sprintf("%d at %d: %q: %s = %s %x", r.Line, r.Offset, r.Text, r.Name, r.Digits, r.Value)
}

// read reads all records in batches.
func read(r *Reader, batch int) (lines []string, err error) {
	for records := make([]Record, batch); ; {
		n, err := r.Read(records)
		for i := range n {
			lines = append(lines, told(&records[i]))
		}
		if n > 0 && err != nil {
			lines = append(lines, "an error with records")
		}
		if err != nil {
			return lines, err
		}
	}
}

const mixed = "\xef\xbb\xbfr1 1\n\n \t\r\nr2 2 \t\r\nbad\n\xef\xbb\xbfr3 3\rx\n# comment\nr4 xX\x00\n\nr5 00000000000000000000005"

var mixedTold = []string{
	`1 at 0: "r1 1": r1 = 1 1`,
	`4 at 13: "r2 2": r2 = 2 2`,
	`5 at 21: "bad": column 4: found the end of the line, expected digits`,
	`6 at 25: "\ufeffr3 3\rx": column 7: found "3\rx", expected digits`,
	`7 at 35: "# comment": column 3: found "comment", expected digits`,
	`8 at 45: "r4 xX": r4 = xX 0`,
	`10 at 53: "r5 00000000000000000000005": r5 = 00000000000000000000005 5`,
}

// TestRead: lines and offsets are counted, blanks at the ends of lines are cut off, and the last line needs no end.
func TestRead(t *testing.T) {
	for _, batch := range []int{1, 2, 3, 512} {
		for name, in := range map[string]io.Reader{
			"whole":    strings.NewReader(mixed),
			"bytes":    iotest.OneByteReader(strings.NewReader(mixed)),
			"halves":   iotest.HalfReader(strings.NewReader(mixed)),
			"with EOF": iotest.DataErrReader(strings.NewReader(mixed)),
		} {
			got, err := read(NewReader(in, words), batch)
			if diff := cmp.Diff(mixedTold, got); diff != "" || err != io.EOF {
				t.Errorf("%s, %d at once (-want +got):\n%s%v", name, batch, diff, err)
			}
		}
	}
}

// pieces is a reader that gives as much as it likes, at times nothing.
type pieces struct {
	*strings.Reader
	random *rand.Rand
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	return p.Reader.Read(b[:min(len(b), p.random.IntN(1<<p.random.IntN(16)))])
}

// long is a trace of several blocks with lines of all lengths, some longer than a block.
func long(random *rand.Rand) string {
	var text strings.Builder
	for i := 0; text.Len() < 3*blockSize; i++ {
		fmt.Fprintf(&text, "r%d %0*x%s", i, random.IntN(1<<random.IntN(10)), i, []string{"\n", "\r\n", "\n\n", " \n"}[random.IntN(4)])
		if i%5000 == 4999 {
			fmt.Fprintf(&text, "%s 1\n", strings.Repeat("x", blockSize+random.IntN(blockSize)))
		}
	}
	return text.String()
}

// TestReadBoundaries: however the input comes in pieces, the records are the same.
func TestReadBoundaries(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 3))
	text := long(random)
	want, err := read(NewReader(strings.NewReader(text), words), 512)
	if err != io.EOF || len(want) < 5000 {
		t.Fatal(len(want), err)
	}
	for range 10 {
		got, err := read(NewReader(&pieces{strings.NewReader(text), random}, words), 1+random.IntN(1000))
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Fatalf("(-want +got):\n%.2000s%v", diff, err)
		}
	}
}

// TestReadOverlong: of a line beyond MaxLine the beginning is kept, wherever its end is, and the next are read.
func TestReadOverlong(t *testing.T) {
	for _, length := range []int{100, 101, 150, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize} {
		for _, end := range []string{"", "\n", "\nr2 2", "\r\nr2 2\n"} {
			line := "r1 " + strings.Repeat("0", length-3)
			text := "r0 0\n" + line + end
			for _, in := range []io.Reader{strings.NewReader(text), iotest.DataErrReader(strings.NewReader(text))} {
				reader := NewReader(in, words)
				reader.MaxLine = 100
				got, err := read(reader, 512)
				want := []string{`1 at 0: "r0 0": r0 = 0 0`}
				if before, _, _ := strings.Cut(line+end, "\n"); len(before) <= 100 {
					want = append(want, fmt.Sprintf("2 at 5: %q: r1 = %s 0", line, line[3:]))
				} else {
					want = append(want, fmt.Sprintf("2 at 5: %q: column 101: found a line that goes on, expected its end", line[:100]))
				}
				if strings.Contains(end, "r2") {
					want = append(want, fmt.Sprintf(`3 at %d: "r2 2": r2 = 2 2`, 5+length+strings.Index(end, "r2")))
				}
				if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
					t.Errorf("%d bytes and %q (-want +got):\n%s%v", length, end, diff, err)
				}
			}
		}
	}
}

// endless gives the same byte for ever.
type endless byte

// Read implements io.Reader.
func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// TestReadOverlongMemory: a line of gigabytes takes no more memory than one that is just too long.
func TestReadOverlongMemory(t *testing.T) {
	in := io.MultiReader(io.LimitReader(endless('0'), 1<<30), strings.NewReader("\nr1 1\n"))
	reader := NewReader(in, words)
	got, err := read(reader, 1)
	if len(got) != 2 || got[1] != `2 at 1073741825: "r1 1": r1 = 1 1` || err != io.EOF {
		t.Errorf("%.100q %v", got, err)
	}
	if most := 4 * reader.MaxLine; cap(reader.block) > most {
		t.Errorf("the buffer has %d bytes, want %d at most", cap(reader.block), most)
	}
}

// TestReadErrors: an error comes behind what was read before it, and again when asked again.
func TestReadErrors(t *testing.T) {
	failure := errors.New("failure")
	for _, text := range []string{"", "r1 1", "r1 1\n", "r1 1\nr2"} {
		reader := NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(failure)), words)
		got, err := read(reader, 512)
		if want := strings.Count(text, "r"); len(got) != want || err != failure {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if n, err := reader.Read(make([]Record, 1)); n != 0 || err != failure {
			t.Errorf("%q: %d more, %v", text, n, err)
		}
	}
	idle := NewReader(readerFunc(func([]byte) (int, error) { return 0, nil }), words)
	if _, err := read(idle, 1); err != io.ErrNoProgress {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestReadFollows: a whole line is a record before the next is written.
func TestReadFollows(t *testing.T) {
	in, out := io.Pipe()
	written := make(chan string)
	go func() {
		for text := range written {
			io.WriteString(out, text)
		}
		out.Close()
	}()
	reader := NewReader(in, words)
	records := make([]Record, 512)
	for i, step := range []struct{ text, want string }{
		{"r1 1\n", "r1 1"}, {"r2 2\nr3", "r2 2"}, {" 3\n", "r3 3"}, {"\n\nr4 4\r\n", "r4 4"},
	} {
		written <- step.text
		if n, err := reader.Read(records); n != 1 || err != nil || string(records[0].Text) != step.want {
			t.Fatalf("step %d: %d records, %q, %v", i, n, records[0].Text, err)
		}
	}
	close(written)
	if n, err := reader.Read(records); n != 0 || err != io.EOF {
		t.Errorf("%d records, %v", n, err)
	}
}

// TestAll: the iterator gives all records, ends early when asked, and ends with an error that is not io.EOF.
func TestAll(t *testing.T) {
	var got []string
	for r, err := range NewReader(strings.NewReader(mixed), words).All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, told(r))
	}
	if diff := cmp.Diff(mixedTold, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range NewReader(strings.NewReader(mixed), words).All() {
		break
	}
	failure := errors.New("failure")
	count := 0
	for r, err := range NewReader(io.MultiReader(strings.NewReader("r1 1\n"), iotest.ErrReader(failure)), words).All() {
		if count++; (count == 1) != (err == nil) || (r == nil) != (err == failure) {
			t.Errorf("record %d: %v, %v", count, r, err)
		}
	}
	if count != 2 {
		t.Errorf("%d times", count)
	}
}

// several is a dialect of which a line names any number of registers.
var several = &Dialect{Name: "several", New: func(Settings) Decoder { return EachLine(severalReader{}) }}

type severalReader struct{ Stateless }

// Line implements LineReader.
func (severalReader) Line(b *Batch, line []byte) *SyntaxError {
	for at := 0; ; {
		name, _, more := bytes.Cut(line[at:], []byte{','})
		if string(name) == "bad" {
			return Mismatch(line, at, "a register")
		}
		b.Add(Register).Name = name
		if at += len(name) + 1; !more {
			return nil
		}
	}
}

// TestMore: a line that tells of several things is as many records, in whatever batches they are read.
func TestMore(t *testing.T) {
	const text = "a\nb,c,d\n\ne,bad,f\ng,h"
	want := []string{
		`1 at 0: "a": a =  0`,
		`2 at 2: "b,c,d": b =  0`, `2 at 2: "b,c,d": c =  0`, `2 at 2: "b,c,d": d =  0`,
		`4 at 9: "e,bad,f": e =  0`, `4 at 9: "e,bad,f": column 3: found "bad,f", expected a register`,
		`5 at 17: "g,h": g =  0`, `5 at 17: "g,h": h =  0`,
	}
	for batch := 1; batch < 10; batch++ {
		got, err := read(NewReader(iotest.OneByteReader(strings.NewReader(text)), several), batch)
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Errorf("%d at once (-want +got):\n%s%v", batch, diff, err)
		}
	}
	if d := (Registry{several}).Detect([]byte(text)); d.Dialect != several || d.Known != 2 || d.Lines != 3 {
		t.Errorf("detected as %v, %d of %d lines", d.Dialect, d.Known, d.Lines)
	}
}

// TestClone: a clone stays as it is when more is read.
func TestClone(t *testing.T) {
	reader := NewReader(strings.NewReader("r1 1\n"+strings.Repeat("r2 2\n", blockSize)), words)
	var first Record
	for r := range reader.All() {
		if r.Line == 1 {
			first = r.Clone()
		}
	}
	if got := told(&first); got != `1 at 0: "r1 1": r1 = 1 1` {
		t.Error(got)
	}
}
