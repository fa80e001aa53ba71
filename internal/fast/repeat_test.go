//go:build linux && amd64

package fast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"tracewell/arch/amd64"
	"tracewell/ax"
)

// testTag is the tag of pads in tests.
const testTag = 1<<31 - 2

// repeating has hits of a tracepoint be counted that repeat an earlier one.
func repeating(t testing.TB, tp Tracepoint, alike ...string) []Tracepoint {
	t.Helper()
	tp.Repeats = true
	for _, text := range alike {
		code, err := ax.Assemble(text + "\nend")
		if err != nil {
			t.Fatal(err)
		}
		p, err := ax.Decode(code)
		if err != nil {
			t.Fatal(err)
		}
		tp.Alike = append(tp.Alike, p)
	}
	return []Tracepoint{tp}
}

// repeats are ways through pads that count hits.
func repeats(t testing.TB) []path {
	whole := func(actions ...string) Tracepoint { return tracepoint(t, 1, "", append(actions, "R", "M 4 0 16")...) }
	pointers := func(v uint64) func(*amd64.UserRegs) {
		return func(r *amd64.UserRegs) { r[amd64.RSI], r[amd64.RAX] = v, v }
	}
	rdi := func(r *amd64.UserRegs, v *victim) [][]uint64 { return [][]uint64{{r[amd64.RDI]}} }
	six := []string{"reg 0", "reg 4\nref64", "reg 7", "reg 8\nreg 5\ndiv_signed", "reg 17\nreg 17\nsub", "reg 9\nreg 2\nconst8 3\nlsh\nadd"}
	values := func(r *amd64.UserRegs, v *victim) []uint64 {
		var b [8]byte
		v.ReadMemory(dataRegion+0x10, b[:])
		return []uint64{r[amd64.RAX], binary.LittleEndian.Uint64(b[:]), r[amd64.RSP], uint64(int64(r[amd64.R8]) / int64(r[amd64.RDI])), 0,
			r[amd64.R9] + r[amd64.RCX]<<3}
	}
	sixOf := func(r *amd64.UserRegs, v *victim) [][]uint64 { return [][]uint64{values(r, v)} }
	others := func(r *amd64.UserRegs, v *victim) (list [][]uint64) {
		for i := range 6 {
			wrong := values(r, v)
			wrong[i]++
			list = append(list, wrong)
		}
		return list
	}
	list := []path{
		{name: "repeat, new", tracepoints: repeating(t, whole(), "reg 5")},
		{name: "repeat", tracepoints: repeating(t, whole(), "reg 5"), entered: rdi, counted: 1},
		{name: "repeat of nothing, new", tracepoints: repeating(t, whole())},
		{name: "repeat of nothing", tracepoints: repeating(t, whole()), counted: 1,
			entered: func(*amd64.UserRegs, *victim) [][]uint64 { return [][]uint64{{}} }},
		{name: "repeat of six", tracepoints: repeating(t, whole(), six...), entered: sixOf, counted: 1},
		{name: "repeat of six, others", tracepoints: repeating(t, whole(), six...), entered: others},
		{name: "repeat of six, among others", tracepoints: repeating(t, whole(), six...), counted: 7,
			entered: func(r *amd64.UserRegs, v *victim) [][]uint64 { return append(others(r, v), values(r, v)) }},
		{name: "repeat, last of a bucket", tracepoints: repeating(t, whole(), "reg 5"), entered: sameBucket(3), counted: 4},
		{name: "repeat, bucket full", tracepoints: repeating(t, whole(), "reg 5"), entered: sameBucket(4)},
		{name: "repeat of another pad", tracepoints: repeating(t, whole(), "reg 5"), entered: rdi, otherTag: true},
		{name: "repeat faults", tracepoints: repeating(t, whole(), "reg 5", "reg 4\nref64", "reg 5"), regs: pointers(nowhere - 3)},
		{name: "repeat null", tracepoints: repeating(t, whole(), "reg 5", "reg 4\nref64", "reg 5"), regs: pointers(0)},
		{name: "repeat divides by zero", tracepoints: repeating(t, whole(), "reg 5", "reg 4\nconst8 0\ndiv_signed")},
		{name: "repeat of a condition", tracepoints: repeating(t, tracepoint(t, 1, "reg 4\nref8\nconst8 0\nequal\nlog_not", "R"), "reg 5"),
			entered: rdi, counted: 1},
		{name: "repeat, condition false", tracepoints: repeating(t, tracepoint(t, 1, "reg 5\nconst8 77\nequal", "R"), "reg 5"), entered: rdi},
		{name: "repeat, the rest faults", tracepoints: repeating(t, whole("reg 4\nref64\nend"), "reg 0"), regs: pointers(nowhere)},
		{name: "repeat, strict", strict: true, stops: true, entered: rdi, regs: pointers(nowhere),
			tracepoints: repeating(t, whole("reg 4\nref64\nend"), "reg 5")},
		{name: "repeat, pass count", tracepoints: repeating(t, whole(), "reg 5"), entered: rdi, hits: 1},
		{name: "repeat, sets a variable", tracepoints: repeating(t, whole("getv 7\nconst8 1\nadd\nsetv 7"), "reg 5"), entered: rdi,
			variables: map[uint16]int64{7: 3}},
		{name: "repeat, reads a variable", tracepoints: repeating(t, whole(), "getv 7"), variables: map[uint16]int64{7: 3},
			entered: func(*amd64.UserRegs, *victim) [][]uint64 { return [][]uint64{{3}} }},
	}
	for i := range list {
		if list[i].name == "repeat, pass count" {
			list[i].tracepoints[0].Pass = 2
		}
	}
	const text = "reg 4\nconst8 200\ntracenz"
	for _, length := range []int{0, 7, 8, 16, 23} {
		words, _ := AppendText([]uint64{}, textOfStack(length))
		list = append(list,
			path{name: fmt.Sprintf("repeat of a text of %d", length), tracepoints: repeating(t, whole(), "reg 5", text, "reg 5"),
				regs: textAt(length), counted: 2, entered: func(r *amd64.UserRegs, _ *victim) [][]uint64 {
					same, other := []uint64{r[amd64.RDI]}, []uint64{r[amd64.RDI]}
					same, other = append(append(same, words...), r[amd64.RDI]), append(append(other, words...), r[amd64.RDI])
					other[1+length/8] ^= 1 << 56
					return [][]uint64{other, same}
				}})
	}
	list = append(list,
		path{name: "repeat of a long text", tracepoints: repeating(t, whole(), text), regs: textAt(24)},
		path{name: "repeat of a text at 0", tracepoints: repeating(t, whole(), text), regs: pointers(0)},
		path{name: "repeat of a text nowhere", tracepoints: repeating(t, whole(), text), regs: pointers(1 << 60)},
		path{name: "repeat of a text without an end", tracepoints: repeating(t, whole(), "reg 5", text), regs: pointers(nowhere - 12)},
		path{name: "repeat of too much", tracepoints: repeating(t, whole(), text, "reg 5", text), regs: textAt(3)})
	full := list[1]
	full.name, full.full = "repeat, ring full", true
	return append(list, full)
}

// textOfStack is what lies on the victim's stack from where a text of a length begins.
func textOfStack(length int) []byte {
	stack := stackPattern()[stackSize/2+512:]
	return stack[bytes.IndexByte(stack, 0)-length:]
}

// textAt has RSI point there.
func textAt(length int) func(*amd64.UserRegs) {
	return func(r *amd64.UserRegs) { r[amd64.RSI] = uint64(stackRegion + stackSize - len(textOfStack(length))) }
}

// sameBucket are values of RDI in whose bucket there are n others.
func sameBucket(n int) func(r *amd64.UserRegs, _ *victim) [][]uint64 {
	bucket := func(v uint64) uint64 { return (firstHash(testTag) ^ v) * hashFactor >> (64 - bucketBits) }
	return func(r *amd64.UserRegs, _ *victim) (list [][]uint64) {
		for v := uint64(1 << 40); len(list) < n; v++ {
			if bucket(v) == bucket(r[amd64.RDI]) {
				list = append(list, []uint64{v})
			}
		}
		return append(list, []uint64{r[amd64.RDI]})
	}
}

// enter makes the entries of a path, and none besides.
func (w *walk) enter() {
	for _, at := range w.entries {
		w.control.store(at, 0)
	}
	w.entries = w.entries[:0]
	if w.entered == nil {
		return
	}
	of := &Repeat{tag: testTag}
	if w.otherTag {
		of.tag--
	}
	for _, values := range w.entered(&w.before, w.victim) {
		if at, ok := NewRepeats(w.control).Enter(of, values); ok {
			w.entries = append(w.entries, at)
		}
	}
}

// checkCounts compares the counts of entries with what they should be in the end.
func (w *walk) checkCounts() {
	for i, at := range w.entries {
		want := uint64(0)
		if i == w.counted-1 {
			want = 1
		}
		if got := NewRepeats(w.control).Count(at); got != want {
			w.t.Errorf("entry %d has counted %d, want %d", i, got, want)
		}
	}
}

// TestRepeats holds the table to a map, with values that are likely to meet in a bucket, until many buckets are full.
func TestRepeats(t *testing.T) {
	_, c, _ := ringOf(t)
	rng := rand.New(rand.NewPCG(3, 4))
	table, known := NewRepeats(c), map[[3]uint64]int{}
	refused := 0
	for range 60_000 {
		tag := 1 + rng.Int32N(3)
		key := [3]uint64{uint64(tag), rng.Uint64N(100), rng.Uint64N(100) << 56}
		place, ok := table.Enter(&Repeat{tag: tag}, key[1:])
		switch _, had := known[key]; {
		case had && ok:
			t.Fatalf("%v is entered twice", key)
		case ok:
			known[key] = place
			c.add(place+entryCount, uint64(len(known)))
		case !had:
			refused++
		}
	}
	places := map[int]bool{}
	for _, place := range known {
		places[place] = true
		if place < RepeatsAt || place >= ControlSize || place%entrySize != 0 || table.Count(place) == 0 {
			t.Fatalf("an entry at %#x with a count of %d", place, table.Count(place))
		}
	}
	if len(places) != len(known) || len(known) < repeatsSize/entrySize*3/4 || refused == 0 {
		t.Errorf("%d entries at %d places, %d refused", len(known), len(places), refused)
	}
}
