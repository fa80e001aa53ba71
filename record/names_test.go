package record

import (
	"testing"
	"time"
)

// TestThreadNames: the first name is that of the time before, a new one counts from the middle between two readings, and a thread that
// is gone keeps its name.
func TestThreadNames(t *testing.T) {
	name := "one"
	reads := 0
	n := newThreadNames(func(int64) string { reads++; return name })
	start := time.UnixMicro(1_000_000_000)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	n.seen(7, at(0))
	n.seen(7, at(4)) // too early to be read again
	name = "two"
	n.seen(7, at(100))
	name = ""
	n.seen(7, at(200))
	if reads != 3 {
		t.Errorf("the name was read %d times, not 3", reads)
	}
	for ms, want := range map[int]string{-50: "one", 0: "one", 49: "one", 51: "two", 100: "two", 900: "two"} {
		if got, ok := n.at(7, at(ms).UnixMicro()); !ok || got != want {
			t.Errorf("after %d ms it is %q, %v, not %q", ms, got, ok, want)
		}
	}
	if name, ok := n.at(8, at(0).UnixMicro()); ok {
		t.Errorf("a thread that made no frame is %q", name)
	}
	if fresh := n.take(); len(fresh) != 2 || fresh[0].From != 0 || fresh[1].From != at(50).UnixMicro() || len(n.take()) != 0 {
		t.Errorf("for the file there are %v", fresh)
	}
}
