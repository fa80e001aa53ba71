package survey

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

// compared lists what has changed in a frame: "since 0: $rdx 0100000000000000→0200000000000000".
func compared(t *testing.T, c *Comparison, v *view.View, number int) string {
	t.Helper()
	frame, err := v.Frame(number, nil)
	if err != nil {
		t.Fatal(err)
	}
	since, changes, ok, err := c.Compare(frame)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		if since != 0 || changes != nil {
			t.Errorf("frame %d is the first, and %v has changed since %d", number, changes, since)
		}
		return "first"
	}
	text := fmt.Sprintf("since %d:", since)
	for _, change := range changes {
		text += fmt.Sprintf(" %s %s→%s", change.Name, hex.EncodeToString(change.Old), hex.EncodeToString(change.New))
		if change.Register != nil && change.Item != nil {
			t.Errorf("%s is both of a register and an item", change.Name)
		}
	}
	return text
}

func TestCompare(t *testing.T) {
	v := basic(t)
	if err := v.Select([]string{"rip", "rdx", "rdi"}); err != nil {
		t.Fatal(err)
	}
	c := NewComparison(v)
	for number, want := range map[int]string{
		0: "first",
		3: "first",
		4: "first",
		5: "since 4: rip 4712400000000000→4f12400000000000", // n was collected then, and sum is now
		6: "since 5: rip 4f12400000000000→5612400000000000",
		2: "since 1: rdx 0200000000000000→0300000000000000 *(long *)($rbp - 16) d052400000000000→0053400000000000 " +
			"*j 0e00000000000000000000000000e03f6a6f622d3200000000000000000000000000000000000000→" +
			"1500000000000000000000000000e83f6a6f622d3300000000000000000000000000000000000000 " +
			"q a052400000000000d05240000000000002000000000000000700000000000000→" +
			"a05240000000000000534000000000000300000000000000e700000000000000 $hits 0200000000000000→0300000000000000",
	} {
		if got := compared(t, c, v, number); got != want {
			t.Errorf("frame %d: %s\nwant %s", number, got, want)
		}
	}
}

// made is a view of a file with the frames that fill makes.
func made(t *testing.T, h tfile.Header, numbers []trace.Number, fill func(b *tfile.Builder, i int)) *view.View {
	t.Helper()
	var out bytes.Buffer
	w, err := tfile.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range numbers {
		b := tfile.Builder{Order: h.Order}
		b.Begin(nil, n)
		fill(&b, i)
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	v, _ := view.New(f, nil)
	return v
}

// TestCompareUndefined has frames of a tracepoint that the file does not define, whose memory has no names.
func TestCompareUndefined(t *testing.T) {
	h := basic(t).Content.Header()
	h.Tracepoints = nil
	fills := []string{"abc", "abd"}
	v := made(t, h, []trace.Number{7, 7}, func(b *tfile.Builder, i int) {
		b.AppendMemory(0x1000, []byte("same"))
		b.AppendMemory(0x2000, []byte(fills[i]))
		b.AppendMemory(arch.Addr(fills[i][2]), []byte("elsewhere"))
	})
	if got, want := compared(t, NewComparison(v), v, 1), "since 0: 0x2000 616263→616264"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCompareAllocatesNothing once it has seen frames of the sizes.
func TestCompareAllocatesNothing(t *testing.T) {
	v := basic(t)
	c := NewComparison(v)
	frame, err := v.Frame(83, nil)
	if err != nil {
		t.Fatal(err)
	}
	cost := testing.AllocsPerRun(100, func() {
		if _, changes, _, err := c.Compare(frame); err != nil || len(changes) == 0 {
			t.Fatal(err)
		}
	})
	if cost != 0 {
		t.Errorf("%v allocations a frame, want none", cost)
	}
}
