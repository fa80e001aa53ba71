package bench

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
	"tracewell/target"
	"tracewell/target/remote"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// Goals of the proxy.
const (
	proxyFloor = 1.3 // of the least that packets can do
	proxyHost  = 5   // how much dearer GDB's own condition is at the least
)

// BenchmarkProxy measures hits in front of QEMU beside the least that packets can do there, a continue, registers, 16 bytes of
// memory and a step, in turns at machines of their own; and a breakpoint with a condition beside one whose condition GDB evaluates.
func BenchmarkProxy(b *testing.B) {
	for _, board := range []firmware.Board{firmware.RV64, firmware.CortexM3} {
		b.Run(board.String(), func(b *testing.B) {
			floor := &figure{what: "floor", unit: "µs"}
			hit := &figure{what: "a hit", unit: "µs", goal: 250}
			stepped := &figure{what: "the same passed by a step", unit: "µs"}
			false1 := &figure{what: "a false condition", unit: "µs"}
			over := &figure{what: "a hit / floor", goal: proxyFloor}
			dearer := &figure{what: "a false condition / a hit", goal: 1.1}
			ours := &figure{what: "a breakpoint's false condition, proxy", unit: "µs"}
			host := &figure{what: "the same in GDB at the bare stub", unit: "µs"}
			cheaper := &figure{what: "GDB / proxy", goal: proxyHost, atLeast: true}
			program := firmware.Build(b, board)
			for range max(1, *rounds/3) {
				l, h, f := atFloor(b, program), atProxy(b, program, false, false), atProxy(b, program, true, false)
				stepped.add(atProxy(b, program, false, true))
				floor.add(l)
				hit.add(h)
				false1.add(f)
				over.add(h / l)
				dearer.add(f / h)
				p, g := breakpointAt(b, program, true), breakpointAt(b, program, false)
				ours.add(p)
				host.add(g)
				cheaper.add(g / p)
			}
			b.ReportMetric(over.value(), "of-floor")
			b.ReportMetric(0, "ns/op")
			reports = append(reports, &figureTable{"proxy at " + board.String(), []*figure{floor, hit, stepped, false1, over, dearer, ours, host, cheaper}})
		})
	}
}

// proxyHits is how many hits one figure is of.
const proxyHits = 2000

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// atFloor is the floor of a hit in microseconds.
func atFloor(b *testing.B, program *firmware.Program) float64 {
	m := firmware.Start(b, program, firmware.Set("limit", 0))
	defer m.Kill() // or it would run on beside those that come next
	return micro(m.Floor(b, proxyHits))
}

// atProxy is what a hit costs in microseconds that collects registers and 16 bytes, or whose condition is false (never), and that is
// passed by emulation or by steps.
func atProxy(b *testing.B, program *firmware.Program, never, steps bool) float64 {
	m := firmware.Start(b, program, firmware.Set("limit", 0))
	defer m.Kill()
	profile, _ := remote.ProfileByName("qemu-system")
	profile.Steps = steps
	o := remote.Options{Profile: &profile}
	err := o.ReadProgram(program.Path)
	if err != nil {
		b.Fatal(err)
	}
	t, err := remote.Open(m.Connect(b).(io.ReadWriteCloser), o)
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	layout, err := tracepoint.LayoutOf(t)
	if err != nil {
		b.Fatal(err)
	}
	layout.RegisterBlock = t.BlockSize()
	e := tracepoint.New(layout)
	counter := &counting{Handler: e.NewHandler(), done: make(chan struct{})}
	t.Tracer().SetHandler(counter)
	e.SetCircular(true)
	tp := trace.Tracepoint{Number: 1, Addr: arch.Addr(program.Address(b, "step")), Enabled: true, Actions: []trace.Action{
		{Kind: trace.CollectRegisters, Mask: []byte{0xff}},
		{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: program.Address(b, "points"), Length: 16},
	}}
	if never {
		tp.Condition = []byte{0x22, 0, 0x27} // const8 0, end
	}
	if err := e.Define(tp, false); err != nil {
		b.Fatal(err)
	}
	if err := e.Start(t.Tracer(), 1); err != nil {
		b.Fatal(err)
	}
	if err := t.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		b.Fatal(err)
	}
	select {
	case <-counter.done:
	case ev := <-t.Events():
		b.Fatalf("after %d hits: %+v", counter.hits, ev)
	}
	return micro(counter.took) / proxyHits
}

// counting is a handler that takes the time of a number of hits, the first ones left out.
type counting struct {
	target.Handler
	hits  int
	began time.Time
	took  time.Duration
	done  chan struct{}
}

// Hit implements target.Handler.
func (c *counting) Hit(at arch.Addr, s target.Snapshot) target.Verdict {
	switch c.hits++; c.hits {
	case 100:
		c.began = time.Now()
	case 100 + proxyHits:
		c.took = time.Since(c.began)
		close(c.done)
	}
	return c.Handler.Hit(at, s)
}

// breakpointAt is what a breakpoint costs in microseconds whose condition is false, through the proxy or in GDB at the bare stub.
func breakpointAt(b *testing.B, program *firmware.Program, proxied bool) float64 {
	m := firmware.Start(b, program, firmware.Set("limit", 0))
	defer m.Kill()
	address, calls := m.Addr, 500
	if proxied {
		address = gdbtest.Start(b, gdbtest.Config{Server: []string{gdbtest.Binary(b), "proxy"}, Flags: []string{"--to", m.Addr, "--exec", program.Path}}).Address
		calls = proxyHits
	}
	output := gdbtest.RunMultiarch(b, fmt.Sprintf(`
		file %s
		target remote %s
		tbreak *step if i == 20
		continue
		break *step if i == %d
		python
		import time
		began = time.time()
		gdb.execute("continue", to_string=True)
		took = time.time() - began
		end
		-- took --
		python print(took)
		-- rest --
		delete
		kill
	`, program.Path, address, 20+calls))
	var seconds float64
	if _, err := fmt.Sscan(strings.TrimSpace(output.Section(b, "took")), &seconds); err != nil {
		b.Fatalf("%v\n%s", err, output.All)
	}
	return seconds * 1e6 / float64(calls)
}
