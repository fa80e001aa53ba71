package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"tracewell/itrace/generate"
)

// TestOddInput compares what is no trace, or only half of one.
func TestOddInput(t *testing.T) {
	good, _ := generated(t, generate.Options{Instructions: 2000})
	binary := make([]byte, 1<<16)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range binary {
		binary[i] = byte(random.Uint32())
	}
	for _, test := range []struct {
		name, ref, oth string
		options        Options
		verdict        Verdict
		reason         string // part of it
	}{
		{"nothing", "", good, Options{}, Failed, "ref: the trace is empty"},
		{"nothing twice", "", "", Options{}, Failed, "the trace is empty"},
		{"blank lines", "\n\n\n", good, Options{}, Failed, "ref: the trace holds nothing but blank lines"},
		{"binary", good, string(binary), Options{}, Failed, "other: the trace is no text"},
		{"text", good, "Dear all,\nplease find enclosed\n", Options{}, Failed, "other: the trace is in no known dialect"},
		{"a bad line", good, good + "~~~\n", Options{}, Failed, "other has 1 line that could not be read"},
		{"as many bad lines as allowed", good, "~~~\n" + good + "~~~\n", Options{AllowUnknown: 2}, Equal, ""},
		{"one bad line more than allowed", good, "~~~\n" + good + "~~~\n", Options{AllowUnknown: 1}, Failed, "other has 2 lines"},
		{"only registers, the same", "1 clk R t0 1\n", "2 clk R t0 1\n", Options{}, Equal, ""},
		{"only registers, others", "1 clk R t0 1\n", "2 clk R t0 2\n", Options{}, Different, ""},
		{"all left out", good, good, ignore("pc:0-ffffffff"), Failed, "nothing was compared"},
		{"all booted", good, good, Options{Boot: 2000}, Failed, "nothing was compared"},
		{"no start", good, good, Options{Start: at(0x1234)}, Failed, "ref has no instruction at the start address 0x1234"},
		{"a start behind the boot section", good, good, Options{Start: at(0x80008060), Boot: 5}, Failed, "in its boot section of 5 instructions or right behind"},
		{"a last line without an end", good, strings.TrimSuffix(good, "\n"), Options{}, Equal, ""},
		{"unequal lengths", good, good[:strings.LastIndex(good[:len(good)/2], "\n")+1], Options{}, Different, ""},
	} {
		r := compare(t, test.ref, test.oth, test.options)
		if r.Verdict != test.verdict || !strings.Contains(r.Reason, test.reason) {
			t.Errorf("%s: %s, %q, want %s, %q", test.name, r.Verdict, r.Reason, test.verdict, test.reason)
		}
	}
}

// failing fails after what it reads.
type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = errors.New("the disk is gone")
	}
	return n, err
}

func TestReadError(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 2000})
	r := Compare(t.Context(), Input{Name: "ref", Reader: strings.NewReader(text)},
		Input{Name: "other", Reader: failing{strings.NewReader(text[:30000])}}, dialects, Options{})
	if r.Verdict != Failed || !strings.HasPrefix(r.Reason, "other: reading at byte ") || !strings.HasSuffix(r.Reason, "the disk is gone") {
		t.Error(show(r))
	}
}

// endless is a line that does not end for very long. It measures the memory in use on the way.
type endless struct {
	left int64
	live *liveHeap
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	if e.left&(1<<24-1) == 0 {
		e.live.measure()
	}
	n := min(int64(len(p)), e.left, 1<<16)
	for i := range p[:n] {
		p[i] = 'z'
	}
	e.left -= n
	return int(n), nil
}

// TestEndlessLine reads a line of 256 MB, or 4 GB with -million, in little memory.
func TestEndlessLine(t *testing.T) {
	length := int64(1 << 28)
	if *million {
		length = 1 << 32
	}
	text, _ := generated(t, generate.Options{Instructions: 100})
	live := newLiveHeap()
	oth := io.MultiReader(strings.NewReader(text), &endless{length, live}, strings.NewReader("\n"))
	r := Compare(t.Context(), Input{Name: "ref", Reader: strings.NewReader(text)}, Input{Name: "other", Reader: iotest.HalfReader(oth)}, dialects, Options{})
	if r.Verdict != Failed || r.Traces[other].Unknown != 1 || r.Traces[other].Bytes != int64(len(text))+length+1 || len(r.Traces[other].Samples[0]) > 300 {
		t.Error(show(r), r.Traces[other])
	}
	if live.times < 3 || live.most > 12<<20 {
		t.Errorf("%d bytes of memory, measured %d times", live.most, live.times)
	}
}

// TestGoroutinesEnd cancels comparisons at any time, and has others end early.
func TestGoroutinesEnd(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 30_000})
	wrong, _ := generated(t, generate.Options{Instructions: 30_000, Faults: []generate.Fault{{Kind: generate.FaultValue, At: 100}}})
	before := runtime.NumGoroutine()
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond/2)
		Compare(ctx, Input{Name: "ref", Reader: strings.NewReader(text)}, Input{Name: "other", Reader: strings.NewReader(text)}, dialects, Options{})
		cancel()
		r := Compare(t.Context(), Input{Name: "ref", Reader: strings.NewReader(text)}, Input{Name: "other", Reader: strings.NewReader(wrong)},
			dialects, Options{FirstOnly: true})
		if r.Verdict != Different || r.Traces[reference].Lines > 10_000 {
			t.Fatal(show(r))
		}
	}
	for range 6000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestProcessors compares traces of several processors: interleaved in another way; and with one that only one trace has.
func TestProcessors(t *testing.T) {
	ref, _ := generated(t, generate.Options{Instructions: 20_000, CPUs: 3})
	oth, _ := generated(t, generate.Options{Instructions: 20_000, CPUs: 3, Seed: 9})
	if ref == oth {
		t.Fatal("the traces are interleaved alike")
	}
	r := compare(t, ref, oth, Options{})
	if r.Verdict != Equal || r.Compared.Instructions != 60_000 {
		t.Error(show(r))
	}
	two, _ := generated(t, generate.Options{Instructions: 20_000, CPUs: 2, Seed: 5})
	for _, test := range []struct {
		ref, oth string
		class    Class
	}{{ref, two, ClassMissing}, {two, ref, ClassExtra}} {
		r := compare(t, test.ref, test.oth, Options{Lookahead: 1000})
		if len(r.Differences) != 1 || r.Differences[0].CPU != 2 || r.Differences[0].Groups != 20_000 || r.Differences[0].Class != test.class || r.Compared.Instructions != 40_000 {
			t.Error(show(r))
		}
	}
	fault := []generate.Fault{{Kind: generate.FaultDrop, At: 5000, CPU: 1}, {Kind: generate.FaultValue, At: 9000, CPU: 2}, {Kind: generate.FaultInterrupt, At: 2000}}
	oth, planted := generated(t, generate.Options{Instructions: 20_000, CPUs: 3, Seed: 9, Faults: fault})
	r = compare(t, ref, oth, Options{})
	if len(r.Differences) != 3 || r.Differences[0].CPU != 0 || r.Differences[1].CPU != 1 || r.Differences[2].CPU != 2 {
		t.Errorf("%+v: %s", planted, show(r))
	}
	if first := compare(t, ref, oth, Options{FirstOnly: true}); len(first.Differences) != 1 || first.Differences[0].CPU != 0 {
		t.Error(show(first))
	}
}

// TestNoInstructions compares traces of effects alone, and of registers without number.
func TestNoInstructions(t *testing.T) {
	const n = 50_000
	var bus, wrong, registers, others strings.Builder
	for i := range n {
		fmt.Fprintf(&bus, "%d clk MW4 %08x %08x\n", i, 4*i, i)
		fmt.Fprintf(&wrong, "%d clk MW4 %08x %08x\n", i, 4*i, i+1)
		fmt.Fprintf(&registers, "%d clk 0 IT (%d) %08x 00000000 A svc : mov r%d,r1\n%d clk R r%d 1\n", i, i, 4*i, i, i, i)
		fmt.Fprintf(&others, "%d clk 0 IT (%d) %08x 00000000 A svc : mov r%d,r1\n%d clk R r%d 2\n", i, i, 4*i, i, i, i)
	}
	lines := strings.SplitAfter(bus.String(), "\n")
	one := strings.Join(slices.Delete(lines, n/2, n/2+1), "")
	began := time.Now()
	if r := compare(t, bus.String(), bus.String(), Options{}); r.Verdict != Equal || r.Compared.Memory != n {
		t.Error(show(r))
	}
	if r := compare(t, bus.String(), one, Options{}); r.Verdict != Different || len(r.Differences) != 1 || r.Differences[0].Reference.Line != n/2+1 {
		t.Error(show(r))
	}
	if r := compare(t, bus.String(), wrong.String(), Options{}); r.Verdict != Different {
		t.Error(show(r))
	}
	if r := compare(t, registers.String(), others.String(), Options{}); r.Verdict != Different || r.Counts[ClassRegister] == 0 {
		t.Error(show(r))
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
}
