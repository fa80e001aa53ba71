//go:build unix

package proxytest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
)

// show defines a command of GDB that prints all frames of the buffer, or of the trace file that is its target: the values of the
// tracepoint's expressions, and of the frame with all registers these.
const show = `
	python
	FORMATS = {
	  1: 'printf "call %d %d %d %d %lu %s seen %d counter %u pc %lu\\n", p->hart, i, p->x, p->y, (unsigned long) p, p->name, $seen, counter, (unsigned long) $pc',
	  2: 'printf "third %d %d\\n", p->hart, i',
	  3: 'printf "middle %d %d %d %u %d %d %d %d table %d %d\\n", p->hart, i, product, device, squares[0], squares[1], squares[2], squares[3], table[0], table[7]',
	  4: 'printf "step %lu\\n", (unsigned long) $pc',
	  5: 'printf "done %u\\n", hart',
	  6: 'printf "locals %lu ", (unsigned long) p\noutput n\necho \\n',
	}
	def value(what):
	  return int(gdb.parse_and_eval(what))
	def show():
	  gdb.execute("tfind 0", to_string=True)
	  while value("$trace_frame") >= 0:
	    number = value("$tracepoint")
	    for command in FORMATS[number].splitlines():
	      gdb.execute(command)
	    if number == 1 and value("i") == 20 and value("p->hart") == 0:
	      registers("frame-")
	    gdb.execute("tfind", to_string=True)
	def registers(prefix):
	  for line in gdb.execute("info registers", to_string=True).splitlines():
	    name, text = line.split(None, 1)
	    if "unavailable" not in text:
	      print(prefix + name, text)
	end
`

// define has tracepoints of all kinds, three of them at one address.
const define = `
	set breakpoint condition-evaluation target
	set dprintf-style agent
	tvariable $seen = 0
	trace *step
	actions
	  teval $seen = $seen + 1
	  collect $regs, i, *p, counter, $seen
	  collect/s p->name
	end
	trace *step if i % 3 == 1
	actions
	  collect i, p->hart
	end
	trace core.c:MIDDLE
	actions
	  collect $args, product, device, p->hart, table, *(char (*)[256]) ($STACK - 128)
	  collect $regs
	end
	trace *step if i == 21 && p->hart == 0
	actions
	  collect $regs
	  while-stepping 4
	    collect $regs
	  end
	end
	trace *done
	actions
	  collect $args
	end
	passcount HARTS 5
	trace core.c:TALLY
	actions
	  collect $locals
	end
	dprintf core.c:MIDDLE,"dprintf %d of %d\n", i, p->hart
	condition $bpnum i % 10 == 7
	break *step if i == 20 && p->hart == 0
	break *step if i == 22 && p->hart == 0
	break *done
`

// run runs the program to its end: to its breakpoints, in the one step by step, with an interruption by neither.
const run = `
	tstart
	continue
	-- live --
	python registers("live-")
	-- rest --
	continue
	-- steps --
	printf "step %lu\n", (unsigned long) $pc
	stepi
	printf "step %lu\n", (unsigned long) $pc
	stepi
	printf "step %lu\n", (unsigned long) $pc
	stepi
	printf "step %lu\n", (unsigned long) $pc
	stepi
	printf "step %lu\n", (unsigned long) $pc
	-- rest --
	CONTINUES
	-- status --
	tstatus
	-- frames --
	python show()
	-- rest --
	tfind none
	tsave FOLDER/saved
	delete 7 8 9 10
	END
	-- breakpoints --
	-- file --
	target tfile FOLDER/saved
	python show()
`

const calls = 60

// TestSession has stock GDB use all that there is of tracepoints, in one session with breakpoints that have conditions, dprintf and
// steps, and compares every value of every frame with what the program has kept. The trace file has the same for GDB.
func TestSession(t *testing.T) {
	eachPeer(t, func(t *testing.T, k kind) {
		p := k.start(t, calls)
		proxy := proxied(t, p.address, "--exec", p.program.Path)
		dir := t.TempDir()
		end := "detach"
		if p.machine == nil || !k.board.Bare() {
			end = "continue" // to the end of the process, which writes what it has kept
		}
		script := strings.NewReplacer(
			"MIDDLE", fmt.Sprint(p.program.Line(t, "middle")), "TALLY", fmt.Sprint(p.program.Line(t, "tally")),
			"STACK", stackPointer(k.board), "HARTS", fmt.Sprint(k.board.Harts()),
			"CONTINUES", strings.Repeat("continue\n", k.board.Harts()), "FOLDER", dir, "END", end,
		).Replace(debugged(p, proxy) + show + define + run)
		output := gdbtest.RunMultiarch(t, script)
		if os.Getenv("SHOW") != "" {
			t.Log(output.All)
		}
		kept := p.kept(t)
		compareFrames(t, k, p, kept, output)
		compareRegisters(t, output)
		compareSteps(t, output)
		if diff := cmp.Diff(output.Section(t, "frames"), assumed.ReplaceAllString(output.Section(t, "file"), "")); diff != "" {
			t.Errorf("the trace file differs from the frames of the session (-session +file):\n%s", diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "saved")); err != nil {
			t.Error(err)
		}
		comparePrinted(t, k, proxy)
		for hart, tally := range kept.Tallies[:k.board.Harts()] {
			if tally.Misreads != 0 {
				t.Errorf("hart %d: somebody has read the device %d times", hart, tally.Misreads)
			}
		}
	})
}

// assumed is what GDB says of tracepoints that a file has and itself too.
var assumed = regexp.MustCompile("(?m)^Assuming tracepoint .* is same as .*\n")

// stackPointer is what GDB can compile: the name of the processor's register, which sp is not everywhere. Around it, or below it where there is a red zone, lies the array
// of step, which GDB 13 cannot collect by its name where the frame is described by a register.
func stackPointer(b firmware.Board) string {
	if b == firmware.X86 || b == firmware.LinuxX86 {
		return "rsp"
	}
	return "sp"
}

// compareFrames holds the frames of each hart against its calls.
func compareFrames(t *testing.T, k kind, p *peer, kept *firmware.Kept, output *gdbtest.Output) {
	t.Helper()
	names := []string{"north", "east", "south", "west"}
	var want, got []string
	for hart := range k.board.Harts() {
		for n := range calls {
			c, ok := kept.Call(hart, n)
			if !ok {
				t.Fatalf("call %d of hart %d is not kept: %+v", n, hart, kept.Tallies)
			}
			want = append(want, fmt.Sprintf("call %d %d %d %d %d %s pc %d", hart, c.I, c.X, c.Y, c.Point, names[n%4], p.program.Address(t, "step")))
			if n%3 == 1 {
				want = append(want, fmt.Sprintf("third %d %d", hart, n))
			}
			local := fmt.Sprint(n)
			if k.board == firmware.LinuxARM {
				local = "<optimized out>" // there
			}
			square := func(k int32) int32 { return (c.Y + k) * (c.Y + k) }
			want = append(want, fmt.Sprintf("middle %d %d %d %d %d %d %d %d table 3 -6", hart, c.I, c.Product, c.Device,
				square(0), square(1), square(2), square(3)), fmt.Sprintf("locals %d %s", c.Point, local))
		}
		want = append(want, fmt.Sprintf("done %d", hart))
	}
	seen := 0
	for line := range strings.Lines(output.Section(t, "frames")) {
		line = strings.TrimSuffix(line, "\n")
		head, tail, counted := strings.Cut(line, " seen ")
		if counted {
			seen++
			var variable, counter, pc, hart, i int
			if _, err := fmt.Sscanf(tail, "%d counter %d pc %d", &variable, &counter, &pc); err != nil || variable != seen {
				t.Errorf("frame %q, %v: $seen is to be %d", line, err, seen)
			}
			if _, err := fmt.Sscanf(head, "call %d %d", &hart, &i); err != nil || hart == 0 && counter != i {
				t.Errorf("frame %q, %v: counter is to be i", line, err)
			}
			line = fmt.Sprintf("%s pc %d", head, pc)
		}
		if !strings.HasPrefix(line, "frame-") && !strings.HasPrefix(line, "step ") {
			got = append(got, line)
		}
	}
	sorted := func(lines []string) []string { // of the harts one after the other
		if k.board.Harts() > 1 {
			slices.Sort(lines)
		}
		return lines
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("frames (-kept +found):\n%s", diff)
	}
}

// compareRegisters holds the registers of a frame against those of the thread that stopped there.
func compareRegisters(t *testing.T, output *gdbtest.Output) {
	t.Helper()
	live := strings.ReplaceAll(output.Section(t, "live"), "live-", "")
	var frame []string
	for line := range strings.Lines(output.Section(t, "frames")) {
		if name, ok := strings.CutPrefix(line, "frame-"); ok {
			frame = append(frame, strings.TrimSuffix(name, "\n"))
		}
	}
	lines := strings.Split(live, "\n")
	if len(frame) < 8 {
		t.Errorf("the frame has %d registers, the thread %d", len(frame), len(lines))
	}
	for _, line := range frame {
		if !slices.Contains(lines, line) {
			t.Errorf("the frame has %q, the thread has\n%s", line, live)
		}
	}
}

// compareSteps holds the pcs of a tracepoint's steps against those that GDB found by its own.
func compareSteps(t *testing.T, output *gdbtest.Output) {
	t.Helper()
	var frames []string
	for line := range strings.Lines(output.Section(t, "frames")) {
		if strings.HasPrefix(line, "step ") {
			frames = append(frames, strings.TrimSuffix(line, "\n"))
		}
	}
	var live []string
	for line := range strings.Lines(output.Section(t, "steps")) {
		if strings.HasPrefix(line, "step ") {
			live = append(live, strings.TrimSuffix(line, "\n"))
		}
	}
	if diff := cmp.Diff(live, frames); diff != "" || len(live) != 5 {
		t.Errorf("steps (-GDB's +the tracepoint's):\n%s", diff)
	}
}

// comparePrinted looks at what dprintf has printed, where the proxy prints.
func comparePrinted(t *testing.T, k kind, proxy *gdbtest.Server) {
	t.Helper()
	for hart := range k.board.Harts() {
		for i := range calls {
			text := fmt.Sprintf("dprintf %d of %d\n", i, hart)
			if printed := strings.Contains(proxy.Stdout(), text); printed != (i%10 == 7) {
				t.Errorf("%q was printed: %v", text, printed)
			}
		}
	}
}
