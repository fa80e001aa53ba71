//go:build linux

package guard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
)

// victimPID names, in the environment, the process that this program is to put int3s into, as a tracer would, until it is killed.
const victimPID = "GUARD_TEST_VICTIM"

func TestMain(m *testing.M) {
	Run()
	if pid := os.Getenv(victimPID); pid != "" {
		n, _ := strconv.Atoi(pid)
		fmt.Fprintln(os.Stderr, patch(n))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	int3     = 0xcc
	patches  = 5000 // more than there is room for in a page of the table
	distance = 16
	raised   = 3
	enough   = 30 * time.Second // for anything that a test waits for
)

// patch puts int3s into a victim, has them guarded, and carries out commands until the input ends.
func patch(pid int) error {
	v, err := openVictim(pid)
	if err != nil {
		return err
	}
	var g Guard
	g.Start()
	if err := g.Problem(); err != nil {
		return err
	}
	s := g.Open(pid, v.mem)
	g.Rest()
	for i := range patches {
		addr := v.text + arch.Addr(i*distance)
		s.Set(addr, 0, int3)              // an error, put right below
		s.Set(addr, v.byteAt(addr), int3) // as after a write of the program's code
		v.set(addr, int3)
	}
	for range raised {
		v.count(1)
		s.Raise(v.data)
	}
	fmt.Println("patched")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "withdraw": // all but the last, the memory being left as it is
			for i := range patches - 1 {
				s.Unset(v.text + arch.Addr(i*distance))
			}
			s.Lower(v.data)
		case "leave":
			s.Close()
			return errors.Join(g.Close(), errors.New("left"))
		}
		fmt.Println("done")
	}
	return io.EOF
}

// victim is a process that never executes what is patched.
type victim struct {
	pid        int
	mem        *os.File
	text, data arch.Addr
}

func openVictim(pid int) (*victim, error) {
	maps, err := sys.Mappings(pid)
	if err != nil {
		return nil, err
	}
	v := &victim{pid: pid}
	const insideUnused = 0x4000
	for _, m := range maps {
		switch {
		case !strings.HasSuffix(m.Path, "/family"):
		case m.Exec:
			v.text = arch.Addr(m.Start + insideUnused)
		case m.Write:
			v.data = arch.Addr(m.End - 2)
		}
	}
	if v.text == 0 || v.data == 0 {
		return nil, fmt.Errorf("process %d does not run family", pid)
	}
	v.mem, err = sys.OpenMemory(pid)
	return v, err
}

func (v *victim) byteAt(addr arch.Addr) byte {
	var b [1]byte
	v.mem.ReadAt(b[:], int64(addr))
	return b[0]
}

func (v *victim) set(addr arch.Addr, b byte) { v.mem.WriteAt([]byte{b}, int64(addr)) }

// count adds to the two bytes that stand for a semaphore.
func (v *victim) count(by uint16) {
	b := binary.LittleEndian.AppendUint16(nil, v.semaphore()+by)
	v.mem.WriteAt(b, int64(v.data))
}

func (v *victim) semaphore() uint16 {
	return uint16(v.byteAt(v.data)) | uint16(v.byteAt(v.data+1))<<8
}

// code is what was patched.
func (v *victim) code() []byte {
	b := make([]byte, patches*distance)
	v.mem.ReadAt(b, int64(v.text))
	return b
}

// start starts a victim, which has children after the next line of its input.
func start(t testing.TB) (*victim, io.Writer) {
	t.Helper()
	cmd := exec.Command(testprog.Build(t, "family", testprog.Variant{}).Path)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, child := range sys.Children(cmd.Process.Pid) {
			sys.Kill(child, sys.SIGKILL)
		}
		cmd.Process.Kill()
		cmd.Wait()
	})
	io.WriteString(in, "\n")
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is up
		t.Fatal(err)
	}
	v, err := openVictim(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.mem.Close() })
	return v, in
}

// patcher is a process that has patched a victim.
type patcher struct {
	*testing.T
	*exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

func startPatcher(t *testing.T, v *victim) *patcher {
	t.Helper()
	p := &patcher{T: t, Cmd: exec.Command("/proc/self/exe")}
	p.Cmd.Env = append(os.Environ(), victimPID+"="+strconv.Itoa(v.pid))
	in, err1 := p.StdinPipe()
	out, err2 := p.StdoutPipe()
	p.Cmd.Stderr = os.Stderr
	if err := errors.Join(err1, err2, p.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	p.in, p.out = in, bufio.NewReader(out)
	p.answer("patched\n")
	return p
}

func (p *patcher) answer(want string) {
	p.Helper()
	if line, err := p.out.ReadString('\n'); line != want {
		p.Fatalf("the tracer says %q, %v, want %q", line, err, want)
	}
}

// guards are the guards that the process has.
func (p *patcher) guards() []int {
	p.Helper()
	return slices.DeleteFunc(sys.Children(p.Process.Pid), func(child int) bool {
		return sys.ThreadName(child) != shortName || sys.HasEnded(child)
	})
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(enough); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", enough, what)
		}
	}
}

// TestKilled kills a tracer, and everything is as it was. One of the traps was overwritten by somebody else.
func TestKilled(t *testing.T) {
	v, _ := start(t)
	want, semaphore := v.code(), v.semaphore()
	p := startPatcher(t, v)
	if n := bytes.Count(v.code(), []byte{int3}); n < patches || v.semaphore() != semaphore+raised {
		t.Fatalf("%d int3s, semaphore %d", n, v.semaphore())
	}
	v.set(v.text, 0x90)
	want[0] = 0x90
	guards := p.guards()
	if len(guards) != 1 {
		t.Fatalf("guards %v, want one", guards)
	}
	p.Process.Kill()
	eventually(t, "the guard ends", func() bool { return sys.HasEnded(guards[0]) })
	if !bytes.Equal(v.code(), want) || v.semaphore() != semaphore {
		t.Errorf("%d int3s are left, and the semaphore is %d, want %d", bytes.Count(v.code(), []byte{int3}), v.semaphore(), semaphore)
	}
}

// TestWithdrawn kills a tracer that has withdrawn all traps but one, though they stand there: they are somebody else's now.
func TestWithdrawn(t *testing.T) {
	v, _ := start(t)
	before, semaphore := v.code(), v.semaphore()
	p := startPatcher(t, v)
	want := v.code()
	last := (patches - 1) * distance
	want[last] = before[last]
	io.WriteString(p.in, "withdraw\n")
	p.answer("done\n")
	guards := p.guards()
	p.Process.Kill()
	eventually(t, "the guard ends", func() bool { return sys.HasEnded(guards[0]) })
	if !bytes.Equal(v.code(), want) || v.semaphore() != semaphore+1 {
		t.Errorf("the guard has touched what it should not, or left what was its own; semaphore %d, want %d", v.semaphore(), semaphore+1)
	}
}

// TestLeft lets a tracer leave by itself: its guard is gone, and has touched nothing.
func TestLeft(t *testing.T) {
	v, _ := start(t)
	p := startPatcher(t, v)
	want, guards := v.code(), p.guards()
	p.Cmd.Stderr = nil
	io.WriteString(p.in, "leave\n")
	p.Wait()
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(guards[0]))); err == nil {
		t.Error("the guard is still there, or has left a zombie")
	}
	if !bytes.Equal(v.code(), want) {
		t.Error("the guard has changed the program")
	}
}

// TestGuardKilled kills guards. The tracer starts another one each time, which knows everything.
func TestGuardKilled(t *testing.T) {
	v, _ := start(t)
	want := v.code()
	p := startPatcher(t, v)
	for range 3 {
		former := p.guards()
		if len(former) != 1 {
			t.Fatalf("guards %v, want one", former)
		}
		sys.Kill(former[0], sys.SIGKILL)
		eventually(t, "another guard stands by", func() bool {
			next := p.guards()
			return len(next) == 1 && next[0] != former[0] && watches(next[0])
		})
	}
	guards := p.guards()
	p.Process.Kill()
	eventually(t, "the guard ends", func() bool { return sys.HasEnded(guards[0]) })
	if !bytes.Equal(v.code(), want) {
		t.Error("int3s are left")
	}
}

// watches reports whether a guard has been told of the victim: it has its memory open.
func watches(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(files, func(name string) bool {
		path, _ := os.Readlink(name)
		return strings.HasSuffix(path, "/mem")
	})
}

// TestChildren kills a tracer that has not noticed yet that its victim has forked.
func TestChildren(t *testing.T) {
	v, in := start(t)
	want, semaphore := v.code(), v.semaphore()
	p := startPatcher(t, v)
	io.WriteString(in, "\n")
	var child *victim
	eventually(t, "the victim has forked", func() bool {
		children := sys.Children(v.pid)
		if len(children) == 0 || len(sys.Children(children[0])) == 0 {
			return false
		}
		child, _ = openVictim(children[0])
		return child != nil
	})
	defer child.mem.Close()
	guards := p.guards()
	p.Process.Kill()
	eventually(t, "the guard ends", func() bool { return sys.HasEnded(guards[0]) })
	grandchild, err := openVictim(sys.Children(child.pid)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer grandchild.mem.Close()
	for name, v := range map[string]*victim{"parent": v, "child": child, "grandchild": grandchild} {
		if !bytes.Equal(v.code(), want) || v.semaphore() != semaphore {
			t.Errorf("%s: %d int3s are left, and the semaphore is %d, want %d", name, bytes.Count(v.code(), []byte{int3}), v.semaphore(), semaphore)
		}
	}
}

// TestTable takes entries that were given back into use again, and holds what is packed against what it was made of.
func TestTable(t *testing.T) {
	tab := make(table, firstEntry+64*entryWords)
	for _, e := range []entry{
		{kind: aTrap, space: 1<<32 - 1, original: 0xff, written: 0xcc},
		{kind: aTrap, space: 1},
		{kind: semaphore, space: 7, raised: 0xffff},
	} {
		i, _ := tab.extend()
		tab.put(i, uint64(i)+0x1000, e)
		if addr, got := tab.read(i); got != e || addr != uint64(i)+0x1000 {
			t.Errorf("%+v comes back as %+v at %#x", e, got, addr)
		}
	}
	tab.remove(1)
	var addrs []uint64
	collect := func(addr uint64, _ entry) bool { addrs = append(addrs, addr); return true }
	tab.each(collect)
	tab.latest(collect)
	for i := range uint32(recent + 1) {
		tab.touch(i % 2)
	}
	tab.touch(2)
	tab.latest(collect)
	if want := []uint64{0x1000, 0x1002, 0x1002, 0x1000, 0x1001}; len(addrs) != 2+recent || !slices.Equal(addrs[:5], want) {
		t.Errorf("entries at %#x, want %#x", addrs, want)
	}
	var s *Space
	s.Set(1, 2, 3) // a space without a guard takes everything
	s.Raise(1)
	s.Close()
}

// BenchmarkRestore puts 5000 traps back.
func BenchmarkRestore(b *testing.B) {
	v, _ := start(b)
	tab := make(table, firstEntry+patches*entryWords)
	for i := range uint32(patches) {
		tab.extend()
		tab.put(i, uint64(v.text)+uint64(i)*distance, entry{kind: aTrap, space: 1, original: 0x90, written: int3})
	}
	r := &rescuer{table: tab}
	r.spaces.Store(&map[uint32]space{1: {v.pid, sys.CodeOf(int(v.mem.Fd()))}})
	code := bytes.Repeat([]byte{int3}, patches*distance)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		v.mem.WriteAt(code, int64(v.text))
		b.StartTimer()
		r.restore()
	}
}

// TestHitWithoutAllocation does what a hit does whose instruction is stepped in place.
func TestHitWithoutAllocation(t *testing.T) {
	g := &Guard{table: make(table, firstEntry+64*entryWords)}
	s := &Space{guard: g, id: 1, entries: make(map[arch.Addr]uint32)}
	s.Set(0x1000, 1, int3)
	if n := testing.AllocsPerRun(100, func() { s.Set(0x1000, 1, int3); s.Touch(0x1000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
