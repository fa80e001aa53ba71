package remote_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/fakestub"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/trace"
)

// advised is what Advice says of a hit: the words in front of the time, the time, and by what it is known.
func (r *rig) advised() (words string, cost time.Duration, source string) {
	r.Helper()
	text := r.target.Advice()
	m := regexp.MustCompile(`Each hit of 1 location stops the program, for (about|more than) (\S+) at this stub \([a-z-]+; (.+)\)\.\n`).
		FindStringSubmatch(text)
	if m == nil {
		r.Fatalf("%q", text)
	}
	cost, err := time.ParseDuration(m[2])
	r.must(err)
	return m[1], cost, m[3]
}

// traced has a tracepoint at work.
func (r *rig) traced() {
	r.Helper()
	r.must(r.engine.Define(trace.Tracepoint{Number: 1, Addr: r.symbol("work"), Enabled: true}, false))
	r.must(r.engine.Start(r.target.Tracer(), r.id().PID))
}

// TestAdvice has tstart say what a hit costs: by the kind of the stub as long as nothing has run, then by the stops that there were, and
// by hits once there are some.
func TestAdvice(t *testing.T) {
	const delay = 3 * time.Millisecond // before each reply
	quirks := fakestub.QEMUSystem
	quirks.Delay = delay
	r := open(t, fakestub.Config{Quirks: quirks, InRAM: true})
	r.traced()
	if words, cost, source := r.advised(); words != "about" || cost < 3*delay+300*time.Microsecond || !strings.Contains(source, "a guess") {
		t.Errorf("at first %s %v, %s", words, cost, source)
	}
	if text := r.target.Spent(); text != "" {
		t.Errorf("before any hit: %q", text)
	}
	r.do(everything(target.StepOne))
	if words, cost, source := r.advised(); words != "about" || cost < 4*delay || !strings.Contains(source, "by the stops so far") {
		t.Errorf("behind a step %s %v, %s", words, cost, source)
	}
	n, began := 0, time.Now()
	r.breakAt(r.symbol("stored"), func(target.Snapshot) bool { n++; return n == 12 })
	r.do()
	took, hits := time.Since(began), r.stub.Passes(0)+1
	r.must(r.target.RemoveBreakpoint(r.id(), target.Breakpoint{Kind: target.Software, Addr: r.symbol("stored"), Length: 2}))
	words, cost, source := r.advised()
	if words != "about" || cost < 2*delay || cost > took/time.Duration(hits) || source != "the mean of "+strconv.FormatUint(hits, 10)+" so far" {
		t.Errorf("behind %d hits in %v: %s %v, %s", hits, took, words, cost, source)
	}
	spent := regexp.MustCompile(`^(\d+) hits stopped the program, for (\S+) each on average\.\n$`).FindStringSubmatch(r.target.Spent())
	if spent == nil || spent[1] != strconv.FormatUint(hits, 10) {
		t.Fatalf("%q", r.target.Spent())
	}
	if mean, err := time.ParseDuration(spent[2]); err != nil || (mean-cost).Abs() > 10*time.Microsecond {
		t.Errorf("%q, and advice of %v", spent[0], cost)
	}
}

// TestAdviceUnknown: of a stub of which nothing is known the packets are all there is to tell, and a stub that cannot be told how to stop
// costs its profile's time.
func TestAdviceUnknown(t *testing.T) {
	r := open(t, fakestub.Config{InRAM: true})
	r.traced()
	if words, _, source := r.advised(); words != "more than" || !strings.Contains(source, "without its stops") {
		t.Errorf("%s, %s", words, source)
	}
	p := remote.Profile{Name: "own", StopMicroseconds: 7000, Steps: true}
	r = openAs(t, fakestub.Config{InRAM: true}, remote.Options{Profile: &p})
	r.traced()
	if words, cost, _ := r.advised(); words != "about" || cost < 14*time.Millisecond {
		t.Errorf("%s %v, of two stops of 7 ms", words, cost)
	}
}

// TestComparators has four places in flash and two comparators: the start of the run fails, names the two that could not be set and no
// other, and leaves nothing behind.
func TestComparators(t *testing.T) {
	r := open(t, fakestub.Config{Quirks: fakestub.OpenOCD})
	places := []string{"work", "body", "stored", "kept"}
	for i, name := range places {
		r.must(r.engine.Define(trace.Tracepoint{Number: trace.Number(i + 1), Addr: r.symbol(name), Enabled: true}, false))
	}
	err := r.engine.Start(r.target.Tracer(), r.id().PID)
	if err == nil {
		t.Fatal("four places have two comparators")
	}
	named := 0
	for _, name := range places {
		if strings.Contains(err.Error(), r.symbol(name).String()) {
			named++
		}
	}
	if named != 2 || strings.Count(err.Error(), "no hardware breakpoint") != 2 {
		t.Errorf("%v", err)
	}
	if left := r.stub.Inserted(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	r.clean()
}
