//go:build linux && amd64

package guardtest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/internal/fast"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/target/linux"
	"tracewell/tfile"
	"tracewell/trace"
)

var padKills = flag.Int("pads", 0, "how often a tracer is killed whose locations are all pads; 0 for a few")

// padTally is what has become of programs whose tracer was killed.
type padTally struct {
	mayDie                                    bool
	alive, dead, unarmed, mended, whole, kept atomic.Int64
	frames, changes                           atomic.Int64
}

// TestKilledPads kills tracers whose locations are all pads at random moments, attaching and arming included. The program goes on
// and computes what it computes untraced, every time; mending it takes everything out again, and finds the frames of all hits
// that nobody has fetched.
func TestKilledPads(t *testing.T) {
	for _, how := range []testprog.Variant{{NoPIE: true}, {}} {
		t.Run(how.String(), func(t *testing.T) { killPads(newLabOf(t, how)) })
	}
}

// TestKilledPadsApart is TestKilledPads where a program may die of the kill (docs/fast.md): at an access through a wild pointer the
// tracer was to deal with, or as it returns from a signal handler to an instruction under a jump. These are counted, and what lives
// has the right result.
func TestKilledPadsApart(t *testing.T) {
	for name, more := range map[string]string{
		"one wild pointer in 16": "wild=16", "one wild pointer in 10000": "wild=10000",
		"100 signals a second": "100", "2000 signals a second": "2000",
	} {
		t.Run(name, func(t *testing.T) { killPads(newLab(t), more) })
	}
}

// killPads is TestKilledPads with a program of one kind. With more arguments it may die.
func killPads(l *lab, more ...string) {
	t := l.T
	addresses := l.instructions("tick", "work")
	n := *padKills / 2
	if n == 0 {
		n = 4
	} else {
		busy(t)
	}
	mender, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer mender.Close()
	tally := padTally{mayDie: len(more) > 0}
	var left atomic.Int64
	left.Store(int64(n))
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				l.padTrial(mender, addresses, 1+int(i%3), &tally, more)
			}
		})
	}
	group.Wait()
	t.Logf("%d of %d alive with the right result, %d dead, %d killed before a location was armed; %d mended, of %d the memory stayed; "+
		"%d frames found, %d with all their hits; %d changes", tally.alive.Load(), n, tally.dead.Load(), tally.unarmed.Load(), tally.mended.Load(),
		tally.kept.Load(), tally.frames.Load(), tally.whole.Load(), tally.changes.Load())
	if tally.dead.Load() > 0 && !tally.mayDie {
		t.Errorf("%d of %d programs have died", tally.dead.Load(), n)
	}
}

// TestPadsKilledBeforeResume kills a tracer that has armed pads in a program which stands still, and has not let it go on: threads
// stand where jumps have been written, and have to go on behind those.
func TestPadsKilledBeforeResume(t *testing.T) {
	l := newLab(t)
	addresses := l.instructions("tick", "work")
	const threads = 12
	for range 8 {
		s := l.run(threads, "0")
		tracer, progress := l.begin(padHolder, s, addresses)
		l.awaitPads(tracer, progress)
		l.killTracer(tracer)
		if printed, err := s.finish(); err != nil || printed != l.rightAnswer(threads) {
			t.Errorf("the program printed %q and ended with %v", printed, err)
		}
	}
}

// TestMendHostile has the program overwrite, as it were, what it shares with a tracer that was killed, at random, before it is
// mended. Whatever mend makes of that, it writes nothing over code but the program's own bytes, so all code is as in the file or
// still ends in a pad, and the program computes what it should.
func TestMendHostile(t *testing.T) {
	l := newLab(t)
	addresses := l.instructions("tick", "work")
	mender, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer mender.Close()
	whole := 0
	for range max(3, *padKills/20) {
		s := l.orphan(2, addresses)
		scribble(t, s.Process.Pid)
		done, err := mender.Mend(s.Process.Pid, linux.Mending{Save: func([]linux.Salvaged) error { return nil }})
		if err != nil {
			t.Logf("mending: %v", err)
		}
		changed := l.changedAt(s.Process.Pid)
		if changed != 0 && (done.Arenas == 0 || done.Arenas == done.Unmapped) {
			t.Errorf("the code at %#x is not the program's own, and what it leads to is gone: %+v", changed, done)
		}
		if changed == 0 {
			whole++
		}
		if printed, err := s.finish(); err != nil || printed != l.rightAnswer(2) {
			t.Errorf("the program printed %q and ended with %v; %+v", printed, err, done)
		}
	}
	t.Logf("%d programs have all of their code back", whole)
}

// TestMendCommand runs the command line: while the tracer lives, after it was killed, and when there is nothing left to do.
func TestMendCommand(t *testing.T) {
	l := newLab(t)
	s, tracer := l.traced(1, l.instructions("tick", "work"))
	pid := fmt.Sprint(s.Process.Pid)
	file := filepath.Join(l.dir, "rest.tf")
	mend := func(want int, text string, args ...string) {
		t.Helper()
		out, err := exec.Command(l.tracewell, append([]string{"mend", pid}, args...)...).CombinedOutput()
		status := 0
		var end *exec.ExitError
		if errors.As(err, &end) {
			status = end.ExitCode()
		}
		if status != want || !strings.Contains(string(out), text) {
			t.Errorf("mend %v: exit status %d, want %d: %s", args, status, want, out)
		}
	}
	mend(2, "traces it already")
	l.await("frames stay in the ring", func() bool {
		sys.Kill(tracer.Process.Pid, sys.SIGSTOP)
		before := testprog.Ran(t, s.Process.Pid)
		time.Sleep(20 * time.Millisecond)
		if testprog.Ran(t, s.Process.Pid) > before {
			return true
		}
		sys.Kill(tracer.Process.Pid, sys.SIGCONT) // the program waits for it
		return false
	})
	l.killTracer(tracer)
	mend(0, "to be restored", "--dry-run")
	mend(2, "to be saved by -o FILE")
	mend(0, "saved", "-o", file)
	mend(1, "nothing to mend")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(data)
	if err != nil || f.NumFrames() == 0 || len(f.Findings()) > 0 || len(f.Header().Tracepoints) == 0 {
		t.Errorf("the trace file: %v, %v", f, err)
	}
	if printed, err := s.finish(); err != nil || printed != l.rightAnswer(1) {
		t.Errorf("the program printed %q and ended with %v", printed, err)
	}
}

// TestMendKilled kills mend as well, at random moments. Whatever it had begun, the next one finishes, and the program never notices.
func TestMendKilled(t *testing.T) {
	l := newLab(t)
	addresses := l.instructions("tick", "work")
	mender, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer mender.Close()
	var tally padTally
	late := 0
	for range max(3, *padKills/10) {
		s := l.orphan(2, addresses)
		first := exec.Command(l.tracewell, "mend", fmt.Sprint(s.Process.Pid), "--drop")
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(longestMend))
		first.Process.Kill()
		if first.Wait() == nil {
			late++
		}
		l.mend(mender, s, &tally)
		if printed, err := s.finish(); err != nil || printed != l.rightAnswer(2) {
			t.Errorf("the program printed %q and ended with %v", printed, err)
		}
	}
	t.Logf("%d mended twice, of which %d were done with the first time", tally.mended.Load(), late)
}

// longestMend is how long mend has before it is killed: it takes 50 to 300 ms, as the machine is busy, most of them before it stops
// the program.
const longestMend = 300 * time.Millisecond

// scribble writes random bytes over what a program shares with its tracer, but for the flag that makes pads inert: without it
// threads write where the rest of the words says.
func scribble(t *testing.T, pid int) {
	t.Helper()
	maps, err := sys.Mappings(pid)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := sys.OpenMemory(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	for _, m := range maps {
		if !strings.HasPrefix(m.Path, "/memfd:tracewell") {
			continue
		}
		for range 1 + rand.IntN(40) {
			b := make([]byte, 1+rand.IntN(64))
			for i := range b {
				b[i] = byte(rand.Uint32())
			}
			at := 0x28 + rand.Uint64N(0x400)
			switch rand.IntN(3) {
			case 0:
				at = fast.DirectoryAt + rand.Uint64N(0x2000)
			case 1:
				at = rand.Uint64N(m.End - m.Start - uint64(len(b)))
			}
			if at >= 0x28 && at < m.End-m.Start-uint64(len(b)) {
				mem.WriteAt(b, int64(m.Start+at))
			}
		}
	}
}

// instructions are the addresses in the file of all instructions of functions, the first function's first: closer together than jumps
// are long.
func (l *lab) instructions(functions ...string) (addresses []uint64) {
	l.Helper()
	f, err := elf.Open(l.program.Path)
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		l.Fatal(err)
	}
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		l.Fatal(err)
	}
	for _, name := range functions {
		for _, s := range symbols {
			if s.Name != name {
				continue
			}
			from := s.Value - text.Addr
			amd64.Scan(code[from:from+s.Size], arch.Addr(s.Value), func(step amd64.Step) {
				addresses = append(addresses, uint64(step.At))
			})
		}
	}
	if len(addresses) < 10 {
		l.Fatalf("the instructions are at %v", addresses)
	}
	return addresses
}

// padTrial kills a tracer once, and looks at what becomes of the program.
func (l *lab) padTrial(mender *linux.Target, addresses []uint64, threads int, tally *padTally, more []string) {
	s := l.run(threads, "0", more...)
	defer s.Process.Kill()
	tracer, progress := l.tracer(s, addresses)
	if rand.IntN(3) > 0 { // else it is most likely killed while it attaches
		l.awaitPads(tracer, progress)
	}
	time.Sleep(rand.N(longestPads))
	l.killTracer(tracer)
	tally.changes.Add(int64(l.progress(progress, wordChanges)))
	if l.progress(progress, wordPads) == 0 {
		tally.unarmed.Add(1)
	}
	if rand.IntN(4) > 0 {
		time.Sleep(rand.N(5 * time.Millisecond))
		l.mend(mender, s, tally)
	}
	printed, err := s.finish()
	var end *exec.ExitError
	switch {
	case err == nil && printed == l.rightAnswer(threads):
		tally.alive.Add(1)
	case errors.As(err, &end):
		tally.dead.Add(1)
		if l.Logf("the program ended with %v", end); !tally.mayDie {
			l.Fail()
		}
	default:
		l.Errorf("the program printed %q, %v", printed, err)
	}
}

// tracer starts a tracer that makes pads, with a file for what it comes to.
func (l *lab) tracer(s *subject, addresses []uint64) (tracer *exec.Cmd, progress string) {
	return l.begin(padTracer, s, addresses)
}

// begin starts this program once more, with its order in a variable of the environment.
func (l *lab) begin(variable string, s *subject, addresses []uint64) (tracer *exec.Cmd, progress string) {
	l.Helper()
	progress = filepath.Join(l.dir, fmt.Sprintf("%d.progress", s.Process.Pid))
	if err := os.WriteFile(progress, make([]byte, 8*progressWords), 0o600); err != nil {
		l.Fatal(err)
	}
	tracer = exec.Command("/proc/self/exe")
	order := []string{fmt.Sprint(s.Process.Pid), progress}
	bias := l.bias(s.Process.Pid)
	for _, at := range addresses {
		order = append(order, fmt.Sprintf("%x", bias+at))
	}
	tracer.Env = append(os.Environ(), variable+"="+strings.Join(order, " "))
	tracer.Stderr = os.Stderr
	if err := tracer.Start(); err != nil {
		l.Fatal(err)
	}
	return tracer, progress
}

// traced runs the program, with a tracer that traces it.
func (l *lab) traced(threads int, addresses []uint64) (*subject, *exec.Cmd) {
	l.Helper()
	s := l.run(threads, "0")
	tracer, progress := l.tracer(s, addresses)
	l.awaitPads(tracer, progress)
	return s, tracer
}

// awaitPads waits until a tracer has armed its pads.
func (l *lab) awaitPads(tracer *exec.Cmd, progress string) {
	l.Helper()
	l.await("the tracer traces", func() bool { return l.progress(progress, wordPads) > 0 || sys.HasEnded(tracer.Process.Pid) })
}

// orphan runs the program, and kills its tracer when that traces it.
func (l *lab) orphan(threads int, addresses []uint64) *subject {
	l.Helper()
	s, tracer := l.traced(threads, addresses)
	l.killTracer(tracer)
	return s
}

// killTracer kills a tracer, and waits until its guard has done its work.
func (l *lab) killTracer(tracer *exec.Cmd) {
	guards := guardsOf(tracer.Process.Pid)
	tracer.Process.Kill()
	tracer.Wait()
	l.await("the guard ends", func() bool { return allEnded(guards) })
}

// longestPads is how long a tracer has to attach, to arm and to trace before it is killed.
const longestPads = 120 * time.Millisecond

// rightAnswer is what the program prints when everything is right.
func (l *lab) rightAnswer(threads int) string {
	return fmt.Sprintf("right\n%d threads: right\n", threads)
}

// progress reads a word of the tracer's file.
func (l *lab) progress(name string, word int) uint64 {
	b, _ := os.ReadFile(name)
	if len(b) < 8*progressWords {
		return 0
	}
	return binary.LittleEndian.Uint64(b[8*word:])
}

// mend mends the program, and holds its code against its file and the frames against each other.
func (l *lab) mend(mender *linux.Target, s *subject, tally *padTally) {
	pid := s.Process.Pid
	var salvaged []linux.Salvaged
	done, err := mender.Mend(pid, linux.Mending{Save: func(all []linux.Salvaged) error {
		salvaged = all
		return nil
	}})
	if err != nil {
		if !tally.mayDie || !sys.HasEnded(pid) {
			l.Errorf("mending: %v", err)
		}
		return
	}
	if done.Foreign+done.Damaged > 0 || done.Arenas != done.Unmapped+len(done.Kept) {
		l.Errorf("%+v", done)
	}
	tally.mended.Add(1)
	tally.kept.Add(int64(len(done.Kept)))
	for _, why := range done.Kept {
		l.Logf("%d: %v", pid, why)
	}
	if at := l.changedAt(pid); at != 0 {
		l.Errorf("the code at %#x is not the program's own; %+v", at, done)
	}
	maps, err := sys.Mappings(pid)
	for _, m := range maps {
		if err == nil && strings.HasPrefix(m.Path, "/memfd:tracewell") && len(done.Kept) == 0 {
			l.Errorf("the program still has %+v", m)
		}
	}
	for i := range salvaged {
		l.checkSalvaged(&salvaged[i], tally)
	}
}

// changedAt is where a process's code differs from its file, 0 for nowhere.
func (l *lab) changedAt(pid int) uint64 {
	f, err := elf.Open(l.program.Path)
	if err != nil {
		l.Error(err)
		return 0
	}
	defer f.Close()
	mem, err := sys.OpenMemory(pid)
	if err != nil {
		l.Error(err)
		return 0
	}
	defer mem.Close()
	bias := l.bias(pid)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
			continue
		}
		want, _ := io.ReadAll(p.Open())
		got := make([]byte, len(want))
		mem.ReadAt(got, int64(p.Vaddr+bias))
		for i := range want {
			if got[i] != want[i] {
				return p.Vaddr + uint64(i)
			}
		}
	}
	return 0
}

// checkSalvaged writes the frames to a file, which must open, and follows the calls of tick.
func (l *lab) checkSalvaged(s *linux.Salvaged, tally *padTally) {
	var file bytes.Buffer
	w, err := tfile.NewWriter(&file, s.Header)
	if err != nil {
		l.Errorf("the header: %v", err)
		return
	}
	for _, f := range s.Frames {
		if err := w.WriteFrame(f); err != nil {
			l.Errorf("a frame: %v", err)
			return
		}
	}
	err = w.Close()
	opened, err2 := tfile.OpenBytes(file.Bytes())
	if err := errors.Join(err, err2); err != nil || opened.NumFrames() != len(s.Frames) {
		l.Errorf("the trace file: %v", err)
		return
	}
	tally.frames.Add(int64(len(s.Frames)))
	if err := (calls{}).follow(opened, 1); err != nil {
		l.Error(err)
		return
	}
	tally.whole.Add(int64(len(s.Frames)))
}

// calls are the arguments of the last calls of tick, by the stack of the thread.
type calls map[uint64]uint64

// follow goes through the calls in a trace file: those of each thread are there without a gap, and none is there twice.
func (c calls) follow(f *tfile.File, tracepoint trace.Number) error {
	const rdi, rsp = 5, 7
	var buf []byte
	for i := range f.NumFrames() {
		frame, err := f.ReadFrame(i, buf)
		if err != nil {
			return err
		}
		buf = frame.Bytes()
		if frame.Tracepoint() != tracepoint {
			continue
		}
		r := frame.Registers()
		argument, stack := binary.LittleEndian.Uint64(r[8*rdi:]), binary.LittleEndian.Uint64(r[8*rsp:])
		if before, known := c[stack]; known && argument != before+1 {
			return fmt.Errorf("frame %d: the call after tick(%d) is tick(%d)", i, before, argument)
		}
		c[stack] = argument
	}
	return nil
}
