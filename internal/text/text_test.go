package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func cells(texts ...string) [][]byte {
	var row [][]byte
	for _, s := range texts {
		row = append(row, []byte(s))
	}
	return row
}

func TestTable(t *testing.T) {
	columns := []Column{{Title: "n", Right: true}, {Title: "where"}, {Title: "what"}}
	for name, test := range map[string]struct {
		width int
		style Style
		want  string
	}{
		"any width": {0, Style{}, "" +
			"  n  where  what\n" +
			"  1  ä      a long text\n" +
			"100  zebra  b\n" +
			"  5\n"},
		"narrow": {16, Style{}, "" +
			"  n  where  what\n" +
			"  1  ä      a l…\n" +
			"100  zebra  b\n" +
			"  5\n"},
		"colour": {0, Style{Colour: true}, "" +
			"\x1b[1m  n  where  what\x1b[0m\n" +
			"  1  ä      a long text\n" +
			"100  zebra  b\n" +
			"  5\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			table := NewTable(&out, test.width, test.style, columns...)
			for _, row := range [][][]byte{cells("1", "ä", "a long text"), cells("100", "zebra", "b"), cells("5", "", "")} {
				if err := table.Row(row); err != nil {
					t.Fatal(err)
				}
			}
			if err := table.Flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTableStreams has a late row that is wider than those that fixed the widths, and looks that nothing is held back by
// then.
func TestTableStreams(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, 0, Style{}, Column{Title: "a"}, Column{Title: "b"})
	for i := range heldRows {
		if out.Len() > 0 {
			t.Fatalf("rows were written before the widths were fixed, at row %d", i)
		}
		if err := table.Row(cells("x", "y")); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Row(cells("wide", "y")); err != nil {
		t.Fatal(err)
	}
	if want := "x  y\nwide  y\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("the output ends in %q, want %q", out.String()[max(0, out.Len()-20):], want)
	}
}

// TestTableBelow has lines between rows that are held back, and between later ones. They do not count for the widths.
func TestTableBelow(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, 0, Style{}, Column{Title: "a"}, Column{Title: "b"})
	table.Row(cells("1", "x"))
	table.Below([]byte("  much longer than the row\n"))
	table.Row(cells("222", "x"))
	table.Below(nil)
	table.Flush()
	table.Row(cells("3", "x"))
	table.Below([]byte("  one\n"))
	table.Below([]byte("  two\n"))
	const want = "a    b\n1    x\n  much longer than the row\n222  x\n3    x\n  one\n  two\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// TestTableRepeatsTitles once as many lines as fit stand below them, also lines that are no rows.
func TestTableRepeatsTitles(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, 0, Style{}, Column{Title: "a"})
	table.RepeatTitles(3)
	for i := range 5 {
		table.Row(cells(fmt.Sprint(i)))
		if i == 3 {
			table.Below([]byte("-\n"))
		}
	}
	table.Flush()
	if want := "a\n0\n1\na\n2\n3\n-\na\n4\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestTableRowsCostNothing(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, 40, Style{}, Column{Title: "a"}, Column{Title: "b"})
	row := cells("some text", "more of it … and a little more than fits")
	for range heldRows {
		table.Row(row)
	}
	out.Grow(1 << 20)
	if n := testing.AllocsPerRun(100, func() { table.Row(row) }); n != 0 {
		t.Errorf("%v allocations a row, want none", n)
	}
}

func TestTableWithoutRows(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out, 0, Style{}, Column{Title: "a"}, Column{Title: "b"})
	table.Line("nothing here")
	if want := "a  b\nnothing here\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestTableReportsErrors(t *testing.T) {
	table := NewTable(brokenPipe{}, 0, Style{}, Column{Title: "a"})
	table.Row(cells("x"))
	if err := table.Flush(); !errors.Is(err, errBroken) {
		t.Errorf("Flush gave error %v", err)
	}
	if err := table.Row(cells("x")); !errors.Is(err, errBroken) {
		t.Errorf("Row gave error %v", err)
	}
}

func TestHexDump(t *testing.T) {
	long := []byte("0123456789abcdefXYZ\x00\x1b\xff~")
	want := "" +
		"  0x00404080  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\n" +
		"  0x00404090  58 59 5a 00 1b ff 7e                              |XYZ...~|\n"
	if diff := cmp.Diff(want, string(AppendHexDump(nil, "  ", 0x404080, long))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(AppendHexDump(nil, "", 0x7ffffffffff8, long[:9])); !strings.HasPrefix(got, "0x7ffffffffff8  30") {
		t.Errorf("a high address: %q", got)
	}
	if got := string(AppendHexDump(nil, "", 0xfffffff8, long[:9])); !strings.HasPrefix(got, "0x0fffffff8 ") {
		t.Errorf("a dump that grows past 8 digits: %q", got)
	}
	if got := AppendHexDump(nil, "", 1, nil); len(got) != 0 {
		t.Errorf("a dump of nothing: %q", got)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"queue.c:23 — ok":  "queue.c:23 — ok",
		"\x1b[31mred\n":    `\x1b[31mred\n`,
		"bad \xff byte":    `bad \xff byte`,
		"\u202eright-left": `\u202eright-left`,
		"":                 "",
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                              `""`,
		"a\n":                           `"a\n"`,
		strings.Repeat("x", 40):         `"` + strings.Repeat("x", 40) + `"`,
		strings.Repeat("x", 41):         `"` + strings.Repeat("x", 40) + `"…`,
		strings.Repeat("x", 39) + "éé":  `"` + strings.Repeat("x", 39) + `"…`,
		strings.Repeat("\x80", 41)[:41]: `"` + strings.Repeat(`\x80`, 36) + `"…`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
		if got := Quote([]byte(in)); got != want {
			t.Errorf("bytes %q: %s, want %s", in, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 frames", 1: "1 frame", 2: "2 frames"} {
		if got := Plural(n, "frame"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestStyle(t *testing.T) {
	for style, want := range map[Style]string{{}: "x", {Colour: true}: "\x1b[2mx\x1b[0m"} {
		if got := style.Faint("x"); got != want {
			t.Errorf("%+v: Faint gives %q, want %q", style, got, want)
		}
	}
	if got := (Style{Colour: true}).Heading(""); got != "" {
		t.Errorf("nothing styled is %q", got)
	}
}

func ExampleAppendHexDump() {
	fmt.Print(string(AppendHexDump(nil, "", 0x404080, []byte("job-1\x00"))))
	// Output: 0x00404080  6a 6f 62 2d 31 00                                 |job-1.|
}
