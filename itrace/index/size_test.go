package index

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracewell/itrace/matcher"
)

// scattered is a trace of so many instructions of which each reads or writes a word at a random address.
func scattered(instructions int) []byte {
	var text bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	for i := range instructions {
		fmt.Fprintf(&text, "%d clk 0 IT (%d) %08x 8c620000 A svc : lw v0,0(v1)\n", i, i, 0x1000+4*(i%1000))
		fmt.Fprintf(&text, "%d clk M%c4 %08x %08x\n", i, "RW"[i%2], random.Uint32()&^3, i)
	}
	return text.Bytes()
}

// TestSize: an index has up to a twentieth of the bytes of its trace, also of one whose addresses never come again; and finds them.
func TestSize(t *testing.T) {
	text := scattered(150_000)
	trace, index := indexed(t, text, matcher.Dialect)
	share := 100 * float64(len(index)) / float64(len(text))
	t.Logf("%d bytes of %d: %.2f %%", len(index), len(text), share)
	if share > 5 {
		t.Errorf("the index has %.2f %% of the trace", share)
	}
	if problem := trace.Summary().Problem; problem != "" {
		t.Fatal(problem)
	}
	for _, n := range []int64{0, 77_777, 149_999} {
		effects, err := trace.Effects(n)
		if err != nil || len(effects) != 2 { // the instruction is the first
			t.Fatalf("instruction %d: %v, %v", n, effects, err)
		}
		what := Read
		if effects[1].Write {
			what = Write
		}
		found, err := trace.Next(context.Background(), 0, []Want{{What: what, Addr: effects[1].Addr, Size: 4}})
		if err != nil || found == nil || found.Instruction != n {
			t.Errorf("the access of instruction %d: %+v, %v", n, found, err)
		}
	}
}
