//go:build unix

package proxytest

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tracewell/internal/routine"
	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
)

// TestMachineDies kills QEMU in the middle of a run. GDB hears of the end, and the next one finds the reason and the frames.
func TestMachineDies(t *testing.T) {
	t.Parallel()
	p := endless(t, firmware.RV64)
	proxy := proxied(t, p.address)
	dies := make(chan struct{})
	routine.Go(func() {
		defer close(dies)
		for kept := p.kept(t); kept.Tallies[0].Calls < 200; kept = p.kept(t) {
			time.Sleep(5 * time.Millisecond)
		}
		p.machine.Kill()
	})
	lastWords(t, p, proxy, 200, "")
	<-dies
}

// lastWords traces until the program is lost, and looks with the next GDB at what there is: this one has no target any more.
func lastWords(t *testing.T, p *peer, proxy *gdbtest.Server, least int, more string) {
	t.Helper()
	output := gdbtest.RunMultiarch(t, debugged(p, proxy)+collectCalls+more+`
		tstart
		-- end --
		? continue
	`)
	if got := output.Section(t, "end"); !strings.Contains(got, "SIGKILL") {
		t.Errorf("the end of the program is %q", got)
	}
	next := gdbtest.RunMultiarch(t, debugged(p, proxy)+printCalls+`
		-- status --
		tstatus
		-- calls --
		python calls()
	`)
	if status := next.Section(t, "status"); !strings.Contains(status, "Trace stopped by an error") {
		t.Errorf("the status is %s", status)
	}
	if got := parseCounted(t, next.Section(t, "calls")); got.first != 0 || got.gaps != 0 || got.calls < least {
		t.Errorf("the buffer has %+v", got)
	}
}

// TestSilentStub has a stub that hangs in the middle of a run, as QEMU does when it is stopped by a signal: it is given up after
// the time that the command line says, and the frames are there.
func TestSilentStub(t *testing.T) {
	t.Parallel()
	p := endless(t, firmware.RV64)
	relay := relayTo(t, p.address)
	proxy := proxied(t, relay.address, "--patience", "2s")
	silenced := make(chan struct{})
	routine.Go(func() {
		defer close(silenced)
		for kept := p.kept(t); kept.Tallies[0].Calls < 100; kept = p.kept(t) {
			time.Sleep(5 * time.Millisecond)
		}
		relay.silence()
	})
	began := time.Now()
	lastWords(t, p, proxy, 100, `
		python
		import threading, os, signal
		threading.Timer(4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
		end
	`)
	<-silenced
	if took := time.Since(began); took > time.Minute {
		t.Errorf("that took %v", took)
	}
}

// relay is between the proxy and a stub, and can go silent.
type relay struct {
	address string
	quiet   chan struct{}
}

// relayTo relays connections to a stub.
func relayTo(t *testing.T, address string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &relay{l.Addr().String(), make(chan struct{})}
	routine.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			stub, err := net.Dial("tcp", address)
			if err != nil {
				client.Close()
				continue
			}
			routine.Go(func() { r.copy(stub, client) })
			routine.Go(func() { r.copy(client, stub) })
		}
	})
	return r
}

// copy copies until the source ends, and drops everything once the relay is quiet.
func (r *relay) copy(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		select {
		case <-r.quiet:
		default:
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
}

func (r *relay) silence() { close(r.quiet) }

// TestReconnects connects and leaves many times, in all ways, with tracepoints and breakpoints left behind: the program is well, and the
// proxy has not grown.
func TestReconnects(t *testing.T) {
	if !*whole {
		t.Skip("with -whole")
	}
	t.Parallel()
	const times = 100
	p := endless(t, firmware.CortexM3)
	proxy := proxied(t, p.address)
	var before int
	for n := range times {
		leave := []string{"detach", "disconnect", "tstop\ndetach"}[n%3]
		output := gdbtest.RunMultiarch(t, debugged(p, proxy)+collectCalls+`
			tstart
			tbreak step
			-- stop --
			continue
			print counter
			-- rest --
		`+leave+"\n")
		if !strings.Contains(output.Section(t, "stop"), "= ") {
			t.Fatalf("visit %d: %s", n, output.All)
		}
		if n == times/10 {
			before = resident(t, proxy.PID())
		}
	}
	gdbtest.RunMultiarch(t, debugged(p, proxy)+"detach\n")
	seen := p.kept(t).Tallies[0].Calls
	kept := p.machine.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls > seen+10000 })
	if kept.Tallies[0].Misreads != 0 {
		t.Errorf("%d misreads", kept.Tallies[0].Misreads)
	}
	if after := resident(t, proxy.PID()); after > before+16<<10 {
		t.Errorf("the proxy had %d KB of memory, and has %d KB", before, after)
	}
}

// TestMillionHits traces a million hits into a circular buffer, and has a condition there that holds for one in a thousand, with flat
// memory.
func TestMillionHits(t *testing.T) {
	if !*whole {
		t.Skip("with -whole: it takes some minutes")
	}
	const calls, early, each = 1_000_000, 50_000, 1000
	m := firmware.Start(t, firmware.Build(t, firmware.RV64), firmware.Set("limit", calls), firmware.For(time.Hour))
	p := &peer{m.Program, m.Addr, m.Kept, m}
	proxy := proxied(t, p.address)
	var before int
	watching := make(chan struct{})
	routine.Go(func() {
		defer close(watching)
		for kept := p.kept(t); kept.Tallies[0].Calls < early; kept = p.kept(t) {
			time.Sleep(time.Second)
		}
		before = resident(t, proxy.PID())
	})
	output := gdbtest.RunMultiarchFor(t, 55*time.Minute, debugged(p, proxy)+printCalls+`
		tvariable $held = 0
	`+collectCalls+fmt.Sprintf(`
		trace *step if i %% %d == %[1]d - 1
		actions
		  teval $held = $held + 1
		end
		set circular-trace-buffer on
		set trace-buffer-size 100000
		break *done
		tstart
		continue
		tstop
		-- held --
		print $held
		-- calls --
		python calls()
	`, each))
	<-watching
	if got := output.Section(t, "held"); !strings.HasSuffix(got, fmt.Sprintf("= %d", calls/each)) {
		t.Errorf("the condition has held as often as %s", got)
	}
	after := resident(t, proxy.PID())
	t.Logf("the proxy had %d KB of memory after %d hits, and has %d KB after %d", before, early, after, calls)
	if after > before+8<<10 {
		t.Errorf("the proxy grows: %d KB, %d KB", before, after)
	}
	if got := parseCounted(t, output.Section(t, "calls")); got.last != calls-1 || got.gaps != 0 {
		t.Errorf("the buffer has %+v", got)
	}
	if kept := p.kept(t); kept.Tallies[0].Misreads != 0 || kept.Tallies[0].Calls != calls {
		t.Errorf("the program has kept %+v", kept.Tallies[0])
	}
}

// resident is how much memory a process has, in KB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestProxyDies kills the proxy in the middle of a run. The next one finds a program without breakpoints that nobody knows of.
func TestProxyDies(t *testing.T) {
	t.Parallel()
	p := endless(t, firmware.RV64)
	first := proxied(t, p.address)
	gdb := startGDB(t, debugged(p, first)+collectCalls+"tstart\nbreak *step if counter == -1\ncontinue\n")
	p.machine.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls >= 50 })
	if err := syscall.Kill(first.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gdb.Wait()
	output := gdbtest.RunMultiarch(t, debugged(p, proxied(t, p.address))+`
		-- stop --
		tbreak *step
		continue
		-- rest --
		detach
	`)
	if !strings.Contains(output.Section(t, "stop"), "Temporary breakpoint") {
		t.Errorf("%s", output.All)
	}
	seen := p.kept(t).Tallies[0].Calls
	kept := p.machine.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls > seen+100 })
	if kept.Tallies[0].Misreads != 0 {
		t.Errorf("%d misreads", kept.Tallies[0].Misreads)
	}
}
