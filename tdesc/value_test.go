package tdesc_test

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc"
)

var update = flag.Bool("update", false, "write golden files anew")

const goldenValues = "testdata/values/registers.golden"

// sample is a line of registers.txt.
type sample struct {
	typ   string
	bytes []byte
}

// samples reads registers.txt.
func samples(t *testing.T) []sample {
	t.Helper()
	var out []sample
	for line := range strings.Lines(readFile(t, "testdata/values/registers.txt")) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		s := sample{typ: words[0]}
		for _, w := range words[1:] {
			s.bytes = append(s.bytes, expand(t, w)...)
		}
		out = append(out, s)
	}
	return out
}

// expand reads hexadecimal digits with an optional *N behind.
func expand(t *testing.T, word string) []byte {
	t.Helper()
	digits, times, repeated := strings.Cut(word, "*")
	n := 1
	if repeated {
		n, _ = strconv.Atoi(times)
	}
	b, err := hex.DecodeString(strings.Repeat(digits, n))
	if err != nil || n == 0 {
		t.Fatalf("registers.txt: bad bytes %q", word)
	}
	return b
}

// sampled is a description with a register q0, q1 … for each sample, and the block that holds them.
func sampled(t *testing.T) (*tdesc.Target, []byte) {
	t.Helper()
	var registers strings.Builder
	var values []byte
	for i, s := range samples(t) {
		fmt.Fprintf(&registers, "<reg name='q%d' bitsize='%d' type='%s'/>\n", i, 8*len(s.bytes), s.typ)
		values = append(values, s.bytes...)
	}
	doc := `<target><architecture>i386:x86-64</architecture>
		<xi:include href="core.xml"/><xi:include href="types.xml"/></target>`
	target, warnings, err := tdesc.Parse([]byte(doc), func(annex string) ([]byte, error) {
		text := readFile(t, filepath.Join("testdata/values", annex))
		if annex == "types.xml" {
			text = strings.Replace(text, "</feature>", registers.String()+"</feature>", 1)
		}
		return []byte(text), nil
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Parse: %v, warnings %v", err, warnings)
	}
	core := 16*8 + 8 + 7*4 + 8*10 + 8*4
	return target, append(make([]byte, core), values...)
}

func layoutOf(t *testing.T, target *tdesc.Target) *tdesc.Layout {
	t.Helper()
	l, err := target.Layout()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// show formats the sampled registers as info registers does.
func show(t *testing.T) string {
	target, block := sampled(t)
	var out strings.Builder
	for _, s := range layoutOf(t, target).Slots {
		if strings.HasPrefix(s.Reg.Name, "q") {
			fmt.Fprintf(&out, "%-14s %s\n", s.Reg.Name, s.Format(block, binary.LittleEndian))
		}
	}
	return out.String()
}

func TestFormat(t *testing.T) {
	if diff := cmp.Diff(readFile(t, goldenValues), show(t)); diff != "" {
		t.Errorf("values differ from GDB's (-GDB +ours):\n%s", diff)
	}
}

// TestGDBShowsTheSame gives GDB a trace file with the sampled registers in a frame and has it print them.
func TestGDBShowsTheSame(t *testing.T) {
	target, block := sampled(t)
	file := filepath.Join(t.TempDir(), "values.tf")
	if err := os.WriteFile(file, traceFile(target, block), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "target tfile " + file + "\ntfind 0\n-- registers --\n"
	for i := range samples(t) {
		script += fmt.Sprintf("info registers q%d\n", i)
	}
	got := gdbtest.Run(t, "", script).Section(t, "registers") + "\n"
	if *update {
		if err := os.WriteFile(goldenValues, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readFile(t, goldenValues), got); diff != "" {
		t.Errorf("GDB printed something else than %s has (-golden +GDB):\n%s", goldenValues, diff)
	}
}

// traceFile is the smallest trace file with one frame that holds the register block.
func traceFile(target *tdesc.Target, block []byte) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "\x7fTRACE0\nR %x\n", len(block))
	for line := range strings.Lines(string(target.XML())) {
		text.WriteString("tdesc " + line)
	}
	text.WriteString("status 0;tstop::0;tframes:1;tcreated:1;tfree:0;tsize:10000\ntp T1:1000:E:0:0\n\n")
	out := binary.LittleEndian.AppendUint16([]byte(text.String()), 1)
	out = binary.LittleEndian.AppendUint32(out, uint32(1+len(block)))
	out = append(append(out, 'R'), block...)
	return append(out, 0, 0, 0, 0)
}

// TestFormatBigEndian shows that a value means the same in either order once its bytes are turned around.
func TestFormatBigEndian(t *testing.T) {
	tests := []struct {
		typ           string
		hex           string
		first, second string
	}{
		{"int16", "fffe", "0xfffe", "-2"},
		{"int128", "fffffffffffffffffffffffffffffffe", "0xfffffffffffffffffffffffffffffffe", "-2"},
		{"ieee_single", "3fc00000", "1.5", "(raw 0x3fc00000)"},
		{"data_ptr", "0000000000001234", "0x1234", "0x1234"},
		{"few", "00000002", "0x2", "TWO"},
		{"mixed", "00000009", "0x9", "[ X M=TWO N=0 Z=0 S=0 ]"},
		{"v4f", "3f800000400000004040000000000000", "{0x3f800000, 0x40000000, 0x40400000, 0x0}", ""},
		{"three_bytes", "fffffe", "{a = 0xfffffe}", "{a = 16777214}"},
		{"long", "0000000000000000f000000000000001", "{a = 0xf, b = 0x1}", "{a = 15, b = true}"},
		{"arm_fpa_ext", "00003fff8000000000000000", "1", "(raw 0x00003fff8000000000000000)"},
		{
			"signed", "200600f0",
			"{lo = 0xfffffff0, e = 0x0, u8 = 0x0, i64 = 0x6, i128 = 0x2}",
			"{lo = -16, e = ZERO, u8 = 0, i64 = 6, i128 = 2}",
		},
	}
	types := readFile(t, "testdata/values/types.xml")
	for _, test := range tests {
		block, err := hex.DecodeString(test.hex)
		if err != nil {
			t.Fatal(err)
		}
		reg := fmt.Sprintf("<reg name='r' bitsize='%d' type='%s'/></feature>", 8*len(block), test.typ)
		target, _, err := tdesc.Parse([]byte(`<target><xi:include href="types.xml"/></target>`),
			func(string) ([]byte, error) { return []byte(strings.Replace(types, "</feature>", reg, 1)), nil })
		if err != nil {
			t.Fatal(err)
		}
		first, second := layoutOf(t, target).ByName("r").Columns(block, binary.BigEndian)
		if first != test.first || second != test.second {
			t.Errorf("%s %s: got %q, %q, want %q, %q", test.typ, test.hex, first, second, test.first, test.second)
		}
	}
}

func TestHex(t *testing.T) {
	target, _, err := tdesc.Parse([]byte(`<target><feature name="f">
		<reg name="ip" bitsize="64" type="code_ptr"/>
		<reg name="st" bitsize="80" type="i387_ext"/>
		<reg name="v" bitsize="128" type="uint128"/>
	</feature></target>`), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := layoutOf(t, target)
	block := make([]byte, l.Size)
	copy(block, []byte{0xb5, 0x11, 0x40})
	block[8+10] = 0x7f
	tests := []struct{ reg, want, big string }{
		{"ip", "0x4011b5", "0xb511400000000000"},
		{"st", "0x00000000000000000000", "0x00000000000000000000"},
		{"v", "0x0000000000000000000000000000007f", "0x7f000000000000000000000000000000"},
	}
	for _, test := range tests {
		s := l.ByName(test.reg)
		if got := s.Hex(block, binary.LittleEndian); got != test.want {
			t.Errorf("%s: got %s, want %s", test.reg, got, test.want)
		}
		if got := s.Hex(block, binary.BigEndian); got != test.big {
			t.Errorf("%s, big-endian: got %s, want %s", test.reg, got, test.big)
		}
	}
	if got := l.ByName("v").Hex(block[:33], binary.LittleEndian); got != tdesc.Unavailable {
		t.Errorf("Hex of a register that the block cuts: %s", got)
	}
	if got := l.ByName("v").Format(block[:33], binary.LittleEndian); got != tdesc.Unavailable {
		t.Errorf("Format of a register that the block cuts: %s", got)
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
