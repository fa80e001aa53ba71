package tracetext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
)

// textOf returns the text of a trace file.
func textOf(t testing.TB, data []byte, opts ...Option) string {
	t.Helper()
	var text bytes.Buffer
	if err := Write(&text, bytes.NewReader(data), int64(len(data)), opts...); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// bytesOf returns the trace file that a text describes.
func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	var data bytes.Buffer
	if err := Read(bytes.NewReader([]byte(text)), &data); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

var realFiles = []string{"queue-basic", "queue-fast", "queue-pie"}

func readReal(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name + ".tf")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRealFiles makes text of files that GDB wrote, and the files of it again.
func TestRealFiles(t *testing.T) {
	for _, name := range realFiles {
		data := readReal(t, name)
		text := textOf(t, data)
		if !bytes.Equal(bytesOf(t, text), data) {
			t.Errorf("%s: other bytes come back", name)
		}
		if !Is([]byte(text)) || Is(data) {
			t.Errorf("%s: the text is not told from the file", name)
		}
	}
}

// TestContent compares the text of what a file holds with the text of the file that is written of it.
func TestContent(t *testing.T) {
	for _, name := range realFiles {
		f, err := tfile.OpenBytes(readReal(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var got, written bytes.Buffer
		if err := WriteContent(&got, f); err != nil {
			t.Fatal(err)
		}
		if err := tfile.Write(&written, f, tfile.KeepUnknownLines(), tfile.KeepStatic(), tfile.KeepDamaged()); err != nil {
			t.Fatal(err)
		}
		if got.String() != textOf(t, written.Bytes()) {
			t.Errorf("%s: another text than that of the written file", name)
		}
	}
}

// TestBytes writes a small file by hand and compares all its bytes.
func TestBytes(t *testing.T) {
	const text = firstLine + `
byte-order big
register-size 6
tdesc
| <target><feature name="f"><reg name="a" bitsize="32"/><reg name="b" bitsize="16"/></feature></target>
status running
  tframes 1
variable 3 $v = -1 builtin
tracepoint 10 at 0x1f enabled step 1 pass 16
  collect memory 16 bytes at 0x20
frame of tracepoint 10
  registers
    b      0x102
  variable $v = 5
  memory   0x1000  0102 "ab"
           0x1004  03
  static   ff
end 2 bytes
`
	want := "\x7fTRACE0\nR 6\n" +
		"tdesc <target><feature name=\"f\"><reg name=\"a\" bitsize=\"32\"/><reg name=\"b\" bitsize=\"16\"/></feature></target>\n" +
		"status 1;tframes:1\ntsv 3:ffffffffffffffff:1:76\ntp Ta:1f:E:1:10\ntp Aa:1f:M-1,20,10\n\n" +
		"\x00\x0a\x00\x00\x00\x28R\x00\x00\x00\x00\x01\x02V\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x05" +
		"M\x00\x00\x00\x00\x00\x00\x10\x00\x00\x05\x01\x02ab\x03S\x00\x01\xff\x00\x00"
	if diff := cmp.Diff(want, string(bytesOf(t, text))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMeasuredRegisters has the size of the register block worked out.
func TestMeasuredRegisters(t *testing.T) {
	const text = firstLine + `
byte-order little
register-size tdesc
tdesc
| <target><feature name="f"><reg name="a" bitsize="32"/><reg name="b" bitsize="16"/></feature></target>
frame of tracepoint 1
  registers
    b 0x102
end`
	f, err := tfile.OpenBytes(bytesOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	frame, err := f.Frame(0)
	if got := string(frame.Registers()); err != nil || got != "\x00\x00\x00\x00\x02\x01" {
		t.Errorf("registers %q, %v", got, err)
	}
}

// TestLineEnds reads a text as an editor of Windows leaves it, and one whose last line has no end.
func TestLineEnds(t *testing.T) {
	data := readReal(t, "queue-fast")
	text := textOf(t, data)
	for name, other := range map[string]string{
		"CR LF":       strings.ReplaceAll(text, "\n", "\r\n"),
		"no last LF":  strings.TrimSuffix(text, "\n"),
		"no blanks":   regexp.MustCompile(`(?m)^ +`).ReplaceAllString(text, ""),
		"no comments": regexp.MustCompile(`  # .*`).ReplaceAllString(text, ""),
	} {
		if other == text || !bytes.Equal(bytesOf(t, other), data) {
			t.Errorf("%s: other bytes come back", name)
		}
	}
}

// TestOneRegister changes a register of a frame, which has to change one line.
func TestOneRegister(t *testing.T) {
	data := readReal(t, "queue-basic")
	before := strings.Split(textOf(t, data), "\n")
	f, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := f.Frame(40)
	if err != nil {
		t.Fatal(err)
	}
	frame.Registers()[3] ^= 0xff // a view of data: of rax
	after := strings.Split(textOf(t, data), "\n")
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	if changed != 1 || len(before) != len(after) {
		t.Errorf("%d of %d lines changed, and there are %d now", changed, len(before), len(after))
	}
}

// TestLongMemory writes by hand what one block has no room for.
func TestLongMemory(t *testing.T) {
	const size = 2*tfile.MaxBlock + 5
	text := fmt.Sprintf("%s\nbyte-order little\nframe of tracepoint 1\nmemory 0x1000 %s\n%#x 4321\nstatic %s\nend\n",
		firstLine, strings.Repeat("ab", size), 0x1000+size, strings.Repeat("cd", size))
	f, err := tfile.OpenBytes(bytesOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	frame, err := f.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for b := range frame.Blocks() {
		got = append(got, fmt.Sprintf("%c %v %d", b.Kind, b.Addr, len(b.Bytes)))
	}
	want := []string{"M 0x1000 65535", "M 0x10fff 65535", "M 0x20ffe 7", "S 0x0 65535", "S 0x0 65535", "S 0x0 5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyFiles makes text of more files one behind the other than are shown each by itself.
func TestManyFiles(t *testing.T) {
	data := bytes.Repeat([]byte(tfile.Magic+"R 4\n\n\x00\x00\x00\x00"), maxFiles+10)
	text := textOf(t, data)
	if n := strings.Count(text, firstLine); n != maxFiles {
		t.Errorf("%d files are shown, want %d", n, maxFiles)
	}
	if !bytes.Equal(bytesOf(t, text), data) {
		t.Error("other bytes come back")
	}
}

// TestRest makes text of a damaged file with another one behind it, at all distances from where the rest is looked at anew.
func TestRest(t *testing.T) {
	for n := restBytes - 20; n < restBytes+4; n++ {
		data := slices.Concat([]byte(tfile.Magic+"\n"), bytes.Repeat([]byte{0xff}, n), []byte(tfile.Magic+"\n\x00\x00\x00\x00"))
		text := textOf(t, data)
		if strings.Count(text, firstLine) != 2 || !bytes.Equal(bytesOf(t, text), data) {
			t.Errorf("behind %d bytes: %d files are shown, or other bytes come back", n, strings.Count(text, firstLine))
		}
	}
}

// TestLongDefinitions makes text of definitions that are too long for tfile or just not, as they are where there is a zero byte.
func TestLongDefinitions(t *testing.T) {
	const limit = 16 << 20
	for _, size := range []int{limit - 1, limit} {
		lines := bytes.Repeat(append(bytes.Repeat([]byte{'x'}, 1<<20-1), '\n'), (size-1)>>20)
		lines = append(bytes.Repeat([]byte{'y'}, max(size-len(tfile.Magic)-len(lines)-1, 1)), append([]byte("\n"), lines...)...)
		lines[0] = 0
		data := slices.Concat([]byte(tfile.Magic), lines, []byte("\n\x01\x00\x00\x00\x00\x00\x00\x00"))
		if !bytes.Equal(bytesOf(t, textOf(t, data)), data) {
			t.Errorf("%d bytes of definitions: other bytes come back", size)
		}
	}
	text := firstLine + "\nbyte-order little\n" + strings.Repeat("line \"\\x00"+strings.Repeat("x", 1<<20)+"\"\n", 17) + "frames\n"
	if err := Read(strings.NewReader(text), io.Discard); !errors.As(err, new(*Error)) {
		t.Errorf("%v of frames behind too many definitions, want an *Error", err)
	}
}

// TestLongExpressions makes text of expressions as long as they can be to stand as instructions, and longer.
func TestLongExpressions(t *testing.T) {
	for _, size := range []int{maxCode, maxCode + 1} {
		code := strings.Repeat("02", size-1) + "27"
		data := []byte(fmt.Sprintf("%sR 4\ntp A1:10:X%08X,%s\n\n\x00\x00\x00\x00", tfile.Magic, size, code))
		text := textOf(t, data)
		if shown := strings.Contains(text, "  add\n"); shown != (size <= maxCode) || !bytes.Equal(bytesOf(t, text), data) {
			t.Errorf("%d bytes: instructions %v, or other bytes come back", size, shown)
		}
	}
	text := firstLine + "\ntracepoint 1 at 0x10 enabled\ncondition\n" + strings.Repeat("a:\n", maxCode+1)
	if err := Read(strings.NewReader(text), io.Discard); !errors.As(err, new(*Error)) {
		t.Errorf("%v of too many instructions, want an *Error", err)
	}
}

// TestKeywords holds the list of the words that begin lines of frames to the statements.
func TestKeywords(t *testing.T) {
	for _, statements := range []iter.Seq[string]{maps.Keys(fileStatements), maps.Keys(frameStatements)} {
		for word := range statements {
			if word != "byte-order" && !slices.Contains(frameKeywords, word) {
				t.Errorf("a register may be named %s", word)
			}
		}
	}
}
