//go:build linux

package guardtest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/internal/test/testtool"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
)

var kills = flag.Int("kills", 0, "how often each tracer is killed in each way; 0 for a few")

// TestKilledAtRest kills tracers while nothing runs into a trap. The program goes on, every time.
func TestKilledAtRest(t *testing.T) {
	l := newLab(t)
	for _, use := range tools {
		for _, threads := range []int{1, 50} {
			s := l.run(threads, "asked")
			k := use.attach(l, s.Process.Pid, use.flags...)
			if got := s.ask(); got != "right\n" {
				t.Fatalf("traced by %s, the program prints %q", use.name, got)
			}
			if guards := k.guards(); len(guards) != 1 {
				t.Errorf("%s has the guards %v, want one", use.name, guards)
			}
			k.kill()
			if printed, err := s.finish(); err != nil || printed != l.expect(threads) {
				t.Errorf("%d threads, %s killed: the program printed %q and ended with %v", threads, use.name, printed, err)
			}
		}
	}
}

// TestKilledAtBreakpoint kills a server while its client looks at a thread that has run into a breakpoint. The kernel sets such a thread
// free at once, in front of the breakpoint; a SIGSTOP that is pending keeps it there until the guard has come, whatever else the
// machine has to do. How often the guard is the first without that is measured by TestKills.
func TestKilledAtBreakpoint(t *testing.T) {
	const threads = 50
	l := newLab(t)
	s := l.run(threads, "asked")
	k := l.server([]string{"--attach"}, fmt.Sprint(s.Process.Pid))
	if err := client.Command(k.Client, request.InsertBreak, request.Breakpoint{Addr: arch.Addr(l.tick), Length: 1}); err != nil {
		t.Fatal(err)
	}
	k.goOn()
	answer := make(chan string)
	go func() { answer <- s.ask() }()
	if stop, err := k.AwaitStop(time.Now().Add(patience)); err != nil || stop.Kind != 'T' || stop.Number != 5 {
		t.Fatalf("%+v, %v", stop, err)
	}
	sys.Kill(s.Process.Pid, sys.SIGSTOP)
	k.kill()
	sys.Kill(s.Process.Pid, sys.SIGCONT)
	answered := <-answer
	if printed, err := s.finish(); answered != "right\n" || err != nil || printed != l.expect(threads) {
		t.Errorf("the program printed %q and %q, and ended with %v", answered, printed, err)
	}
}

// TestKilledLauncher kills tracers that have launched the program: it ends with them, and they have no guard.
func TestKilledLauncher(t *testing.T) {
	l := newLab(t)
	for _, use := range tools {
		for range max(2, *kills) {
			k, program := use.launch(l, 50, "1000", use.flags...)
			if guards := k.guards(); len(guards) != 0 {
				t.Errorf("%s has the guards %v, want none", use.name, guards)
			}
			k.kill()
			l.await("the program ends with "+use.name, func() bool { return sys.HasEnded(program) })
		}
	}
}

// TestWithoutGuard attaches where no file can be made, not even in memory. The server says that it has no guard, and serves.
func TestWithoutGuard(t *testing.T) {
	l := newLab(t)
	s := l.run(1, "asked")
	server := testtool.Command(t, "sh", "-c", `ulimit -f 0; exec "$0" serve --attach stdio "$1"`, l.tracewell, fmt.Sprint(s.Process.Pid))
	in, err1 := server.StdinPipe()
	messages, err2 := server.StderrPipe()
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		t.Fatal(err)
	}
	warning := ""
	for line := range lines(messages) {
		if strings.Contains(line, "warning") {
			warning = line
			break
		}
	}
	if want := fmt.Sprintf("process %d dies with its next hit: ", s.Process.Pid); !strings.Contains(warning, want) {
		t.Errorf("the warning is %q, want one with %q", warning, want)
	}
	in.Close()
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	if printed, err := s.finish(); err != nil || printed != l.expect(1) {
		t.Errorf("the program printed %q and ended with %v", printed, err)
	}
}

// rates are how often the program calls tick in a second, with the share of kills that it has to survive. Without pauses a thread
// is in a hit most of the time, and there is no saying.
var rates = []struct {
	rate  string
	share float64
}{{"10", 0.99}, {"1000", 0.80}, {"0", 0}}

// TestKills kills tracers at random moments, with -kills beside two busy loops. Whatever survives has to do what it does untraced;
// how many have to survive is told by -kills only, since a few say nothing.
func TestKills(t *testing.T) {
	l := newLab(t)
	if *kills > 0 {
		busy(t)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tracer\tthreads\thits/s\tkills\tsurvived\t")
	for _, r := range rates {
		if *kills == 0 && r.share == 0 {
			continue // 50 threads without a pause leave a loaded machine nothing
		}
		all, survived := 0, 0
		for _, use := range trapping {
			for _, threads := range []int{1, 50} {
				n := max(1, *kills)
				alive := l.trials(n, use, threads, r.rate)
				all, survived = all+n, survived+alive
				fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%.1f %%\n", use.name, threads, rateName(r.rate), n, alive, 100*float64(alive)/float64(n))
				if *kills > 0 {
					t.Logf("%s, %d threads, %s hits/s: %d of %d survived", use.name, threads, rateName(r.rate), alive, n)
				}
			}
		}
		if float64(survived) < r.share*float64(all) && *kills > 0 {
			t.Errorf("%s hits/s: %d of %d survived, want %.0f %%", rateName(r.rate), survived, all, 100*r.share)
		}
	}
	w.Flush()
	t.Log("\n" + table.String())
}

func rateName(rate string) string {
	if rate == "0" {
		return "no pause"
	}
	return rate
}

// busy keeps two processors busy until the test ends.
func busy(t *testing.T) {
	for range 2 {
		loop := testtool.Command(t, "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { loop.Process.Kill(); loop.Wait() })
	}
}

// TestTime tells how long it takes from SIGKILL until the program's code is back.
func TestTime(t *testing.T) {
	l := newLab(t)
	if *kills > 0 {
		busy(t)
	}
	var times []time.Duration
	for range max(2, *kills) {
		s := l.run(1, "asked")
		mem, err := sys.OpenMemory(s.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		k := l.serve(s.Process.Pid, noPads)
		start := time.Now()
		k.Process.Kill()
		for l.patched(mem) {
			if time.Since(start) > patience {
				t.Fatal("the code does not come back")
			}
		}
		times = append(times, time.Since(start))
		mem.Close()
		k.kill()
		if printed, err := s.finish(); err != nil || printed != l.expect(1) {
			t.Errorf("the program printed %q and ended with %v", printed, err)
		}
	}
	slices.SortFunc(times, cmp.Compare)
	t.Logf("from SIGKILL to the program's code: median %v, 90 %% within %v, all of %d within %v",
		times[len(times)/2], times[len(times)*9/10], len(times), times[len(times)-1])
}
