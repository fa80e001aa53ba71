package itrace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// upper is a dialect of lines that begin with a capital letter.
var upper = &Dialect{Name: "upper", New: func(Settings) Decoder { return Lines(upperParser{}) }}

type upperParser struct{ Stateless }

// Parse implements Parser.
func (upperParser) Parse(line []byte, r *Record) *SyntaxError {
	if line[0] < 'A' || line[0] > 'Z' {
		return Mismatch(line, 0, "a capital letter")
	}
	r.Kind = Instruction
	return nil
}

var both = Registry{words, upper}

// wide is a text as UTF-16.
func wide(text string) string {
	out := "\xff\xfe"
	for _, unit := range utf16.Encode([]rune(text)) {
		out += string([]byte{byte(unit), byte(unit >> 8)})
	}
	return out
}

// TestDetect finds the dialect that most lines are in, or says why there is none.
func TestDetect(t *testing.T) {
	for _, test := range []struct {
		name, head   string
		want         *Dialect
		known, lines int
		words        string
	}{
		{"empty", "", nil, 0, 0, "is empty"},
		{"blank", "\n \r\n\n", nil, 0, 0, "holds nothing but blank lines"},
		{"one line", "r1 1\n", words, 1, 1, ""},
		{"no line feed", "r1 1", words, 1, 1, ""},
		{"a line that is not whole", "r1 1\nA", words, 1, 1, ""},
		{"CR LF and blanks", "r1 1 \r\n\r\nr2 2\r\n", words, 2, 2, ""},
		{"byte order mark", "\xef\xbb\xbfA\n", upper, 1, 1, ""},
		{"comments in front", strings.Repeat("# comment\n", 50) + "A\n", upper, 1, 51, ""},
		{"most lines", "A\nB\nr1 1\n", upper, 2, 3, ""},
		{"as many, the first dialect", "A\nr1 1\n", words, 1, 2, ""},
		{"garbage before the end of what is looked at", strings.Repeat("#\n", DetectBytes/2-1) + "A\nr1 1\nr2 1\n", upper, 1, DetectBytes / 2, ""},
		{"garbage beyond", strings.Repeat("#\n", DetectBytes/2) + "r1 1\n", nil, 0, DetectBytes / 2,
			`is in no known dialect of execution traces (words, upper): it begins with "#"`},
		{"a line without end", "A" + strings.Repeat("x", DetectBytes), nil, 0, 0, "has no line that ends in its first 65536 bytes"},
		{"binary with something like a line", "\x7fTRACE0\nR 4\nA\n", nil, 0, 0, "is no text: it begins with the byte 0x7f"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\n", nil, 0, 0, "is no text: there is a zero byte at offset 7"},
		{"UTF-16", wide("r1 1\nr2 2\n"), nil, 0, 2,
			"is UTF-16, as some programs of Windows write it; make it UTF-8, as by iconv -f UTF-16 -t UTF-8"},
		{"text", "dear diary\nwhat a day\n", nil, 0, 2, `is in no known dialect of execution traces (words, upper): it begins with "dear diary"`},
	} {
		d := both.Detect([]byte(test.head))
		if d.Dialect != test.want || d.Known != test.known || d.Lines != test.lines {
			t.Errorf("%s: got %v, %d of %d lines", test.name, d.Dialect, d.Known, d.Lines)
		}
		if d.Dialect != nil {
			continue
		}
		if got := both.Undetected([]byte(test.head)); got != test.words {
			t.Errorf("%s: got %q, want %q", test.name, got, test.words)
		}
	}
}

// TestSniff looks at no more of a pipe than tells the dialect, and takes nothing from it.
func TestSniff(t *testing.T) {
	garbage := strings.Repeat("#\n", 1000)
	for name, in := range map[string]io.Reader{
		"whole": strings.NewReader(garbage + "A\nB\n"),
		"bytes": iotest.OneByteReader(strings.NewReader(garbage + "A\nB\n")),
	} {
		buffered := bufio.NewReaderSize(in, DetectBytes)
		d, head, err := both.Sniff(buffered)
		if d.Dialect != upper || err != nil || !bytes.HasPrefix([]byte(garbage+"A\nB\n"), head) {
			t.Errorf("%s: %v, %d bytes, %v", name, d, len(head), err)
		}
		if rest, err := io.ReadAll(buffered); string(rest) != garbage+"A\nB\n" || err != nil {
			t.Errorf("%s: %d bytes are left, %v", name, len(rest), err)
		}
	}
	live, out := io.Pipe()
	go io.WriteString(out, "A\n")
	if d, _, err := both.Sniff(bufio.NewReaderSize(live, DetectBytes)); d.Dialect != upper || err != nil {
		t.Errorf("a pipe that goes on: %v, %v", d, err)
	}
	if d, head, err := both.Sniff(bufio.NewReaderSize(endless('#'), DetectBytes)); d.Dialect != nil || len(head) != DetectBytes || err != nil {
		t.Errorf("without end: %v, %d bytes, %v", d, len(head), err)
	}
	failure := errors.New("failure")
	broken := io.MultiReader(strings.NewReader("#\n"), iotest.ErrReader(failure))
	if d, head, err := both.Sniff(bufio.NewReaderSize(broken, DetectBytes)); d.Dialect != nil || string(head) != "#\n" || err != failure {
		t.Errorf("an error: %v, %q, %v", d, head, err)
	}
}

func TestByName(t *testing.T) {
	if d, err := both.ByName("upper"); d != upper || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := both.ByName("lower"); err == nil || err.Error() != `no dialect "lower" of execution traces: there are words, upper` {
		t.Error(err)
	}
}
