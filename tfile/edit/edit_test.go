package edit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
	"tracewell/trace"
)

// frame is a frame of a test: the tracepoint, and the values of variables by their numbers.
type frame struct {
	tracepoint trace.Number
	variables  map[int32]int64
}

// content makes a trace file of definition lines and frames.
func content(t testing.TB, lines string, frames ...frame) *tfile.File {
	t.Helper()
	var file bytes.Buffer
	file.WriteString("\x7fTRACE0\nR 8\n" + lines + "\n")
	b := tfile.Builder{Order: binary.LittleEndian}
	for i, f := range frames {
		b.Begin(nil, f.tracepoint)
		copy(b.Registers(8), fmt.Sprintf("frame %2d", i))
		for n := range int32(100) {
			if value, ok := f.variables[n]; ok {
				b.Variable(trace.VariableNumber(n), value)
			}
		}
		file.Write(b.Finish())
	}
	file.Write(make([]byte, 4))
	f, err := tfile.OpenBytes(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// text writes a content and describes the file: its definition lines, then a line for each frame.
func text(t testing.TB, c tfile.Content) string {
	t.Helper()
	var file bytes.Buffer
	if err := tfile.Write(&file, c, tfile.KeepUnknownLines()); err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range f.Definitions() {
		b.WriteString(d.Text + "\n")
	}
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		if n := c.Tracepoint(i); n != frame.Tracepoint() {
			t.Errorf("frame %d is of tracepoint %d, not %d", i, frame.Tracepoint(), n)
		}
		fmt.Fprintf(&b, "%d: %s", frame.Tracepoint(), frame.Registers())
		for block := range frame.Blocks() {
			if block.Kind == tfile.BlockVariable {
				fmt.Fprintf(&b, " v%d=%d", block.Number, block.Value)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const three = "status 0;tstop::0;tframes:5;tcreated:9;tfree:64;tsize:100;starttime:a;stoptime:14\n" +
	"tsv 2:0:0:68697473\n" +
	"tp T3:1000:E:0:0\ntp V3:1000:1:2\n" +
	"tp T2:2000:E:0:0\ntp A2:2000:R01\ntp Z2:2000:at:0:1:78\ntp V2:2000:3:4\n" +
	"tp T2:2100:E:0:0\ntp V2:2100:5:6\n"

func sampleContent(t testing.TB) *tfile.File {
	return content(t, three, frame{2, nil}, frame{3, nil}, frame{2, nil}, frame{2, nil}, frame{3, nil})
}

func TestSelect(t *testing.T) {
	only2 := "R 8\nstatus 0;tstop::0;tframes:%d;tcreated:9;tfree:64;tsize:100;starttime:a;stoptime:14\ntsv 2:0:0:68697473\n" +
		"tp T2:2000:E:0:0\ntp A2:2000:R01\ntp Z2:2000:at:0:1:78\ntp V2:2000:3:4\ntp T2:2100:E:0:0\ntp V2:2100:5:6\n"
	all := "R 8\n" + strings.Replace(three, "tframes:5", "tframes:%d", 1)
	for name, test := range map[string]struct {
		choice Choice
		header string
		frames []string
	}{
		"all":            {Choice{}, all, []string{"2: frame  0", "3: frame  1", "2: frame  2", "2: frame  3", "3: frame  4"}},
		"range":          {Choice{First: 1, End: 3}, all, []string{"3: frame  1", "2: frame  2"}},
		"beyond the end": {Choice{First: 4, End: 100}, all, []string{"3: frame  4"}},
		"tracepoint":     {Choice{Tracepoints: []trace.Number{2}}, only2, []string{"2: frame  0", "2: frame  2", "2: frame  3"}},
		"both":           {Choice{First: 1, End: 3, Tracepoints: []trace.Number{2}}, only2, []string{"2: frame  2"}},
		"function": {Choice{First: 1, Keep: func(i int, f tfile.Frame) (bool, error) {
			return strings.HasSuffix(string(f.Registers()), "4") || i == 2, nil
		}}, all, []string{"2: frame  2", "3: frame  4"}},
		"none": {Choice{Keep: func(int, tfile.Frame) (bool, error) { return false, nil }}, all, nil},
	} {
		c, err := Select(sampleContent(t), test.choice)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := fmt.Sprintf(test.header, len(test.frames))
		for _, f := range test.frames {
			want += f + "\n"
		}
		if diff := cmp.Diff(want, text(t, c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	failure := errors.New("failure")
	if _, err := Select(sampleContent(t), Choice{Tracepoints: []trace.Number{2, 7}}); err == nil ||
		err.Error() != "no tracepoint 7: there are 2 3" {
		t.Errorf("unknown tracepoint: %v", err)
	}
	if _, err := Select(content(t, ""), Choice{Tracepoints: []trace.Number{7}}); err == nil ||
		err.Error() != "no tracepoint 7: there are no tracepoints" {
		t.Errorf("no tracepoints: %v", err)
	}
	keep := func(int, tfile.Frame) (bool, error) { return true, failure }
	if _, err := Select(sampleContent(t), Choice{Keep: keep}); !errors.Is(err, failure) {
		t.Errorf("failing function: %v", err)
	}
	c, err := Select(sampleContent(t), Choice{End: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadFrame(1, nil); err == nil {
		t.Error("no error for a frame behind the last")
	}
}

func TestOriginal(t *testing.T) {
	c, err := Select(sampleContent(t), Choice{First: 1, Tracepoints: []trace.Number{3}})
	if err != nil || c.NumFrames() != 2 || c.Original(0) != 1 || c.Original(1) != 4 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestSelectProgress(t *testing.T) {
	frames := make([]frame, 2*progressStep)
	for i := range frames {
		frames[i].tracepoint = trace.Number(i%2 + 1)
	}
	var told []int64
	_, err := Select(content(t, "", frames...), Choice{
		Tracepoints: []trace.Number{2},
		Keep:        func(int, tfile.Frame) (bool, error) { return true, nil },
		Progress:    func(done int64) { told = append(told, done) },
	})
	if diff := cmp.Diff([]int64{progressStep}, told); err != nil || diff != "" {
		t.Errorf("%v, told (-want +got):\n%s", err, diff)
	}
}

// merge merges contents called a, b and so on, and gives the text of the result and the changes.
func merge(t testing.TB, order Order, contents ...tfile.Content) (string, []string) {
	t.Helper()
	c, changes, err := Merge(parts(contents...), order, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sentences []string
	for _, change := range changes {
		sentences = append(sentences, change.String())
	}
	return text(t, c), sentences
}

func parts(contents ...tfile.Content) []Part {
	var parts []Part
	for i, c := range contents {
		parts = append(parts, Part{string(rune('a' + i)), c})
	}
	return parts
}

// TestMerge merges files whose numbers clash: tracepoint 2 is another in b, 3 is the same, 4 of b is 5 of a; $x and $y are
// there in both and swapped, $z has the number of something else. The numbers are changed wherever they stand.
func TestMerge(t *testing.T) {
	const (
		// getv 2, tracev 3, pop, end; in b the numbers are swapped
		codeA = "2c00022e00032927"
		codeB = "2c00032e00022927"
		// getv 4, end: $z of b
		condB = "2c000427"
	)
	a := content(t, "status 0;tstop::0;tframes:2;tcreated:3;tfree:1;tsize:2;starttime:14;stoptime:1e;notes:61;username:75\n"+
		"tsv 1:0:1:74726163655f74696d657374616d70\ntsv 2:0:0:78\ntsv 3:5:0:79\ntsv 4:0:0:7a7a\n"+
		"tp T5:5000:E:0:0\ntp V5:5000:1:1\n"+
		"tp T3:3000:D:0:0\ntp A3:3000:X8,"+codeA+"\ntp V3:3000:1:10\n"+
		"tp T2:2000:E:0:0\ntp Z2:2000:at:0:6:612e633a3130\ntp V2:2000:1:1\nfirst line\n",
		frame{2, map[int32]int64{2: 20, 3: 30}}, frame{3, map[int32]int64{4: 40}})
	b := content(t, "status 0;tpasscount:2;tframes:4;tcreated:4;tfree:3;tsize:4;starttime:a;stoptime:28;notes:62;username:75;circular:1\n"+
		"tsv 1:0:1:74726163655f74696d657374616d70\ntsv 3:0:0:78\ntsv 2:5:0:79\ntsv 4:7:0:7a\n"+
		"tp T4:5000:E:0:0\ntp V4:5000:2:2\n"+
		"tp T3:3000:E:0:0\ntp A3:3000:X8,"+codeB+"\ntp V3:3000:2:20\n"+
		"tp T3:3100:E:0:0\ntp V3:3100:3:3\n"+
		"tp T2:2222:E:0:0:X4,"+condB+"\ntp S2:2222:X4,"+condB+"\ntp Z2:2222:at:0:6:612e633a3230\ntp V2:2222:4:4\nfirst line\nsecond line\n",
		frame{2, map[int32]int64{2: 2, 3: 3, 4: 4, 9: 9}}, frame{3, nil}, frame{4, nil}, frame{7, nil})
	got, changes := merge(t, ByFile, a, b)
	want := "R 8\n" +
		"status 0;tpasscount:8;tframes:6;tcreated:7;tfree:4;tsize:6;circular:1;starttime:a;stoptime:28;notes:613b2062;username:75\n" +
		"tsv 1:0:1:74726163655f74696d657374616d70\ntsv 2:0:0:78\ntsv 3:5:0:79\ntsv 4:0:0:7a7a\ntsv 5:7:0:7a\n" +
		"tp T8:2222:E:0:0:X4,2c000527\ntp S8:2222:X00000004,2c000527\ntp Z8:2222:at:0:6:612e633a3230\ntp V8:2222:4:4\n" +
		"tp T5:5000:E:0:0\ntp V5:5000:3:3\n" +
		"tp T3:3000:E:0:0\ntp A3:3000:X00000008," + codeA + "\ntp V3:3000:3:30\n" +
		"tp T3:3100:E:0:0\ntp V3:3100:3:3\n" +
		"tp T2:2000:E:0:0\ntp Z2:2000:at:0:6:612e633a3130\ntp V2:2000:1:1\nfirst line\nsecond line\n" +
		"2: frame  0 v2=20 v3=30\n3: frame  1 v4=40\n" +
		"8: frame  0 v3=2 v2=3 v5=4 v9=9\n3: frame  1\n5: frame  2\n7: frame  3\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantChanges := []string{
		"b: variable $x has number 2 in place of 3", "b: variable $y has number 3 in place of 2",
		"b: variable $z has number 5 in place of 4",
		"b: tracepoint 4 (*0x5000) has number 5 in place of 4", "b: tracepoint 2 (a.c:20) has number 8 in place of 2",
	}
	if diff := cmp.Diff(wantChanges, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestMergeSelf: a file merged with itself has every frame twice, twice the counts, and is otherwise as it was.
func TestMergeSelf(t *testing.T) {
	got, changes := merge(t, ByFile, sampleContent(t), sampleContent(t), sampleContent(t))
	want := strings.NewReplacer("tframes:5;tcreated:9;tfree:64;tsize:100", "tframes:f;tcreated:1b;tfree:12c;tsize:300",
		"V3:1000:1:2", "V3:1000:3:6", "V2:2000:3:4", "V2:2000:9:c", "V2:2100:5:6", "V2:2100:f:12").Replace("R 8\n" + three)
	want += strings.Repeat("2: frame  0\n3: frame  1\n2: frame  2\n2: frame  3\n3: frame  4\n", 3)
	if diff := cmp.Diff(want, got); diff != "" || len(changes) > 0 {
		t.Errorf("changes %q (-want +got):\n%s", changes, diff)
	}
}

// TestMergeAlike: of two tracepoints that are alike each finds its own in the other file, whatever the order.
func TestMergeAlike(t *testing.T) {
	a := content(t, "tp T2:1000:E:0:0\ntp T3:1000:E:0:0\n", frame{2, nil}, frame{3, nil})
	b := content(t, "tp T3:1000:E:0:0\ntp T2:1000:E:0:0\ntp T4:1000:E:0:0\n", frame{4, nil}, frame{3, nil}, frame{2, nil})
	got, changes := merge(t, ByFile, a, b)
	want := "R 8\ntp T2:1000:E:0:0\ntp V2:1000:0:0\ntp T3:1000:E:0:0\ntp V3:1000:0:0\ntp T4:1000:E:0:0\ntp V4:1000:0:0\n" +
		"2: frame  0\n3: frame  1\n4: frame  0\n3: frame  1\n2: frame  2\n"
	if diff := cmp.Diff(want, got); diff != "" || len(changes) > 0 {
		t.Errorf("changes %q (-want +got):\n%s", changes, diff)
	}
}

// TestMergeUndefined: frames of a number without a definition are not taken for those of a tracepoint that has the number.
func TestMergeUndefined(t *testing.T) {
	a := content(t, "tp T2:1000:E:0:0\n", frame{2, nil}, frame{9, nil})
	b := content(t, "", frame{2, nil}, frame{9, nil})
	got, changes := merge(t, ByFile, a, b)
	want := "R 8\ntp T2:1000:E:0:0\ntp V2:1000:0:0\n2: frame  0\n9: frame  1\n10: frame  0\n9: frame  1\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b: undefined tracepoint 2 has number 10 in place of 2"}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestMergeByTime(t *testing.T) {
	const timestamp = "tsv %d:0:1:74726163655f74696d657374616d70\n"
	at := func(n int32, times ...int64) (frames []frame) {
		for _, time := range times {
			frames = append(frames, frame{1, map[int32]int64{n: time}})
		}
		return frames
	}
	a := content(t, fmt.Sprintf(timestamp, 1), at(1, 10, 30, 20)...)
	b := content(t, fmt.Sprintf(timestamp, 7)+"tsv 1:0:0:78\n", at(7, -5, 20, 25)...)
	got, _ := merge(t, ByTime, a, b)
	_, frames, _ := strings.Cut(got, "tsv 8:0:0:78\n")
	want := "1: frame  0 v1=-5\n1: frame  0 v1=10\n1: frame  2 v1=20\n1: frame  1 v1=20\n1: frame  2 v1=25\n1: frame  1 v1=30\n"
	if diff := cmp.Diff(want, frames); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMergeErrors(t *testing.T) {
	plain := content(t, "tdesc a\ntdesc b\n")
	big := tfile.Header{Order: binary.BigEndian, RegisterSize: 8}
	clash := "tsv 2:0:0:78\n"
	for name, test := range map[string]struct {
		order Order
		a, b  tfile.Content
		want  string
	}{
		"byte order":     {ByFile, content(t, ""), empty{big}, "b is big endian, a is little endian"},
		"register size":  {ByFile, empty{tfile.Header{Order: binary.LittleEndian, RegisterSize: 16}}, plain, "b has register blocks of 8 bytes, a of 16"},
		"description":    {ByFile, plain, content(t, "tdesc a\ntdesc c\n"), `the target description of b is not that of a: line 2 is "c", expected "b"`},
		"shorter":        {ByFile, plain, content(t, "tdesc a\n"), "the target description of b is not that of a: it has 1 lines, expected 2"},
		"no timestamp":   {ByTime, plain, plain, "no order by time: there is no variable $trace_timestamp"},
		"frame without":  {ByTime, content(t, "tsv 1:0:1:74726163655f74696d657374616d70\n"), content(t, "", frame{1, nil}), "no order by time: frame 0 of b has no $trace_timestamp"},
		"bad expression": {ByFile, content(t, clash), content(t, "tsv 2:0:0:79\ntp T4:1000:E:0:0:X1,2c\n"), "b: the variables in an expression of tracepoint 4 get other numbers, but it cannot be read: "},
		"no number":      {ByFile, content(t, "tp T7fff:1000:E:0:0\n"), content(t, "tp T7fff:1001:E:0:0\n"), "b: no number is left for another tracepoint"},
		"no variable":    {ByFile, content(t, "tsv ffff:0:0:78\n"), content(t, "tsv ffff:0:0:79\n"), "b: no number is left for another trace state variable"},
	} {
		_, _, err := Merge(parts(test.a, test.b), test.order, nil)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// empty is a content without frames.
type empty struct{ header tfile.Header }

func (e empty) Header() tfile.Header                       { return e.header }
func (e empty) NumFrames() int                             { return 0 }
func (e empty) Tracepoint(int) trace.Number                { panic("there is no frame") }
func (e empty) ReadFrame(int, []byte) (tfile.Frame, error) { panic("there is no frame") }
func (e empty) String() string                             { return "empty" }

// TestMergeKeepsParts: neither merging nor reading changes a file in memory, though its frames are views of it.
func TestMergeKeepsParts(t *testing.T) {
	real, err := os.ReadFile("../testdata/queue-basic.tf")
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Clone(real)
	a, err := tfile.OpenBytes(real)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.ReplaceAll(real, []byte("68697473\n"), []byte("68697474\n")) // $hits is $hitt
	b, err := tfile.OpenBytes(other)
	if err != nil {
		t.Fatal(err)
	}
	c, changes, err := Merge(parts(b, a, b), ByFile, nil)
	if err != nil || len(changes) == 0 {
		t.Fatal(err, changes)
	}
	var frame tfile.Frame
	for i := range c.NumFrames() {
		if frame, err = c.ReadFrame(i, frame.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := frame.Check(); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(real, kept) {
		t.Error("the file was changed")
	}
}

// TestReadFrameAllocates nothing once the buffer is large enough.
func TestReadFrameAllocates(t *testing.T) {
	file := sampleContent(t)
	joined, _, err := Merge(parts(file, content(t, "tp T2:1:E:0:0\n", frame{2, nil})), ByFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	cut, err := Select(joined, Choice{First: 1})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	allocated := testing.AllocsPerRun(100, func() {
		for i := range cut.NumFrames() {
			if _, err := cut.ReadFrame(i, buf); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}
