package match

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"tracewell/itrace/generate"
)

// live is an Input whose bytes come from the writer, one Write at a time.
func live(name string) (Input, *io.PipeWriter) {
	r, w := io.Pipe()
	return Input{Name: name, Reader: r, Interrupt: func() { r.Close() }}, w
}

// within fails the test if a comparison takes longer than it can.
func within(t *testing.T, compare func() *Report) *Report {
	t.Helper()
	done := make(chan *Report)
	go func() { done <- compare() }()
	select {
	case r := <-done:
		return r
	case <-time.After(time.Minute):
		t.Fatal("the comparison does not end")
		return nil
	}
}

// TestLivePipes has one program write two traces by turns, line by line, and stop behind a difference without closing them.
func TestLivePipes(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 3000})
	lines := strings.SplitAfter(text, "\n")
	ref, refWriter := live("ref")
	oth, othWriter := live("other")
	go func() {
		for i, line := range lines {
			io.WriteString(refWriter, line)
			if i == 1000 {
				line = "1 clk 0 IT (1) 0badc0de 00000000 A svc : nop\n"
			}
			io.WriteString(othWriter, line)
		}
	}()
	r := within(t, func() *Report { return Compare(t.Context(), ref, oth, dialects, Options{FirstOnly: true}) })
	if r.Verdict != Different || r.Differences[0].Reference.Line != 1001 {
		t.Error(show(r))
	}
}

// TestStalledBehindSame: all that was written to a pipe is compared, also if the other is skipped meanwhile as the same and the
// pipe then stalls.
func TestStalledBehindSame(t *testing.T) {
	ref, _ := generated(t, generate.Options{Instructions: 3000})
	oth, _ := generated(t, generate.Options{Instructions: 3000, Faults: []generate.Fault{{Kind: generate.FaultValue, At: 1500}}})
	const cut = 2 * leastSkip // before the fault
	for _, short := range []int{reference, other} {
		texts := [2]string{ref, oth}
		var inputs [2]Input
		var writers [2]*io.PipeWriter
		for i := range inputs {
			inputs[i], writers[i] = live([]string{"ref", "other"}[i])
		}
		go io.WriteString(writers[1-short], texts[1-short])
		go func() {
			io.WriteString(writers[short], texts[short][:cut])
			time.Sleep(50 * time.Millisecond) // for the skip; without it nothing is shown, but nothing fails
			io.WriteString(writers[short], texts[short][cut:])
		}()
		r := within(t, func() *Report {
			return Compare(t.Context(), inputs[reference], inputs[other], dialects, Options{FirstOnly: true})
		})
		if r.Verdict != Different {
			t.Errorf("%v: %s", inputs[short].Name, show(r))
		}
	}
}

// TestStalledPipe interrupts a comparison that waits: for the first line, and for more.
func TestStalledPipe(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 100})
	for _, written := range []string{"", text} {
		ctx, cancel := context.WithCancel(t.Context())
		oth, w := live("other")
		go func() {
			io.WriteString(w, written)
			cancel()
		}()
		r := within(t, func() *Report {
			return Compare(ctx, Input{Name: "ref", Reader: strings.NewReader(text)}, oth, dialects, Options{})
		})
		if r.Verdict != Failed || r.Reason != context.Canceled.Error() {
			t.Error(show(r))
		}
	}
}

// TestBrokenPipe compares with a pipe that waits a trace that cannot be read to its end: that ends the comparison.
func TestBrokenPipe(t *testing.T) {
	text, _ := generated(t, generate.Options{Instructions: 100})
	broken := errors.New("broken")
	for _, readable := range []string{"", text} {
		ref, w := live("ref")
		go io.WriteString(w, text)
		oth := Input{Name: "other", Reader: io.MultiReader(strings.NewReader(readable), iotest.ErrReader(broken))}
		r := within(t, func() *Report { return Compare(t.Context(), ref, oth, dialects, Options{}) })
		if r.Verdict != Failed || !strings.HasPrefix(r.Reason, "other: ") || !strings.HasSuffix(r.Reason, broken.Error()) {
			t.Error(show(r))
		}
	}
}
