//go:build linux && amd64

package linux_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testprog"
	"tracewell/target"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// TestPadsInLibraries has a program unload a library with a jump in it, and load another one in its place, while nobody tells the
// target. The other's code stays what it is, and its tracepoint goes by it alone.
func TestPadsInLibraries(t *testing.T) {
	p := testprog.Build(t, "dlstorm", fixed)
	alpha := testprog.Build(t, "alphalib", testprog.Variant{Library: true})
	beta := testprog.Build(t, "betalib", testprog.Variant{Library: true})
	const rounds = 60
	r := launchPads(t, p.Path, alpha.Path, beta.Path, "0", "60")
	r.insert(target.Breakpoint{Addr: symbol(t, p.Path, "note"), Length: 1}) // called when a library has been loaded
	frames := make(map[trace.Number]int)
	take := func(deposits []target.Deposit) target.Verdict {
		for _, d := range deposits {
			frames[d.Key.Number]++
			if d.Err != nil {
				t.Error(d.Err)
			}
		}
		return target.Continue
	}
	c := r.target.Collector()
	c.Begin(target.Run{Builtins: builtins, RegisterBlock: placesInBlock * 8, MaxFrame: 1 << 20, Deposit: take})
	var code [2][]byte // of each library's function
	places := make(map[arch.Addr]int)
	round := 0
	ev := r.resume(0)
	for ; ev.Reason == target.ReasonSwBreak; ev = r.resume(0) {
		block := r.block()
		r.must(r.target.ReadRegisters(ev.Thread, block))
		which, at := binary.LittleEndian.Uint64(block[8*5:]), arch.Addr(binary.LittleEndian.Uint64(block[8*4:]))
		places[at] |= 1 << which
		now := siteBytes(t, r.pid, at)
		if code[which] == nil {
			code[which] = now
		}
		if !bytes.Equal(now, code[which]) {
			t.Fatalf("round %d: the code at %s is % x, want % x", round, at, now, code[which])
		}
		// Two rounds of three are traced, so that what is in force is of this library, of the other one, or of this one as it was
		// loaded before.
		if round%3 < 2 {
			tp := trace.Tracepoint{Number: trace.Number(which + 1), Addr: at, Enabled: true}
			program, err := compiled.Compile(&tp)
			r.must(err)
			c.Recall(r.pid, at)
			r.must(c.Offload(r.pid, program))
			refused, err := c.Apply()
			r.must(err)
			if how := c.Explain(r.pid, at); len(refused) > 0 || how != "pad, by overlap" && how != "pad, by jump" {
				t.Errorf("round %d: %v, %q", round, refused, how)
			}
		}
		round++
	}
	if out := r.output(); ev.Kind != target.Exited || ev.Code != 0 || round != rounds {
		t.Errorf("%+v after %d rounds; the program printed %q", ev, round, out)
	}
	if frames[1] != 5*rounds/3 || frames[2] != 5*rounds/3 {
		t.Errorf("frames %v, want %d of each", frames, 5*rounds/3)
	}
	both := 0
	for _, libraries := range places {
		if libraries == 3 {
			both++
		}
	}
	if both == 0 {
		t.Errorf("no library came to where the other was: %v", places)
	}
}
