//go:build amd64

package linux_test

import (
	"fmt"
	"testing"

	"tracewell/internal/testprog"
	"tracewell/target"
	"tracewell/trace"
)

// BenchmarkHit is the cost of a hit as the program feels it, with registers and 16 bytes of memory and with a condition that
// is false. The sites differ in how the displaced instruction happens. make bench sets it against gdbserver and the floor.
func BenchmarkHit(b *testing.B) {
	p := testprog.Build(b, "spin", testprog.Variant{NoPIE: true, Optimised: true})
	memory := uint64(symbol(b, p.Path, "buffer"))
	kinds := map[string]func(*trace.Tracepoint){
		"regs+16": func(tp *trace.Tracepoint) {
			tp.Actions = append(tp.Actions, trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: memory, Length: 16})
		},
		"false": func(tp *trace.Tracepoint) { tp.Condition = []byte{0x22, 0, 0x27} },
	}
	for _, site := range []string{"mov", "push", "nop", "nop5"} {
		for kind, change := range kinds {
			b.Run(site+"/"+kind, func(b *testing.B) {
				r := launch(b, p.Path, fmt.Sprint(b.N), site)
				r.trace(1, symbol(b, p.Path, "tick_"+site), change)
				r.engine.SetCircular(true)
				if err := r.engine.Start(r.target.Installer(r.pid)); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				b.ResetTimer()
				if ev := r.resume(0); ev.Kind != target.Exited || ev.Code != 0 {
					b.Fatalf("got %+v, want exit with code 0", ev)
				}
				b.StopTimer()
				if n := r.engine.Tracepoints()[0].Hits; kind != "false" && n != uint64(b.N) {
					b.Fatalf("%d hits, want %d", n, b.N)
				}
			})
		}
	}
}
