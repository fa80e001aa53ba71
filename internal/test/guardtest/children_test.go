//go:build linux && amd64

package guardtest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/sys"
	"tracewell/internal/test/testprog"
	"tracewell/target/linux"
)

// TestKilledPadsChildren kills recorders that follow the children of a program that makes some, at random moments while it does.
// All go on and compute what they compute untraced; mending each takes everything out of it again, and finds frames of its own only.
func TestKilledPadsChildren(t *testing.T) {
	l := newLab(t)
	p := testprog.Build(t, "prefork", testprog.Variant{})
	mender, err := linux.New(linux.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	defer mender.Close()
	const workers = 4
	armed, frames, headless := 0, 0, 0
	for range max(4, *padKills/10) {
		cmd, out := exec.Command(p.Path, strconv.Itoa(workers), "5", "asked"), new(bytes.Buffer)
		cmd.Stdout = out
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		recorder := exec.Command(l.tracewell, "record", "--follow", "--pid", strconv.Itoa(pid), "--at", "handle", "--collect", "worker, i",
			"-o", filepath.Join(t.TempDir(), "killed.tf"))
		if err := recorder.Start(); err != nil {
			t.Fatal(err)
		}
		l.await("the recorder has armed", func() bool { return len(sharedMemory(pid)) > 0 || sys.HasEnded(recorder.Process.Pid) })
		time.Sleep(20 * time.Millisecond)
		io.WriteString(in, "\n")
		time.Sleep(rand.N(60 * time.Millisecond))
		guards := guardsOf(recorder.Process.Pid)
		recorder.Process.Kill()
		recorder.Wait()
		l.await("the guard ends", func() bool { return allEnded(guards) })
		l.await("all workers are there", func() bool { return len(childrenOf(pid)) == workers })
		for _, one := range append(childrenOf(pid), pid) {
			saved := 0
			done, err := mender.Mend(one, linux.Mending{Save: func(all []linux.Salvaged) error {
				saved = len(all)
				return nil
			}})
			if err != nil {
				t.Errorf("process %d: %v", one, err)
				continue
			}
			if done.Foreign+done.Damaged > 0 || done.Arenas != done.Unmapped || saved > 1 {
				t.Errorf("process %d: %+v, %d recordings", one, *done, saved)
			}
			switch left := sharedMemory(one); {
			case len(left) == 0:
			case !slices.ContainsFunc(left, isControl): // killed between calls by which the child was to get memory of its own
				headless++
			default:
				t.Errorf("process %d: memory is left: %+v, %+v", one, *done, left)
			}
			armed += done.Restored
			frames += done.Frames
		}
		in.Close()
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "done wrong=0") || strings.Count(out.String(), " wrong=0") != workers+2 {
			t.Errorf("the program printed %q and ended with %v", out, err)
		}
	}
	t.Logf("%d locations restored, %d frames found, %d children with a ring without its control area", armed, frames, headless)
}

// sharedMemory is what a process shares with a tracer.
func sharedMemory(pid int) []sys.Mapping {
	maps, _ := sys.Mappings(pid)
	return slices.DeleteFunc(maps, func(m sys.Mapping) bool { return !strings.HasPrefix(m.Path, "/memfd:tracewell") })
}

// isControl reports whether memory that is shared with a tracer is a control area. Without one nothing uses the ring.
func isControl(m sys.Mapping) bool { return m.Offset == 0 }

// childrenOf lists the children of a process.
func childrenOf(pid int) (children []int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, word := range strings.Fields(string(b)) {
		if child, err := strconv.Atoi(word); err == nil {
			children = append(children, child)
		}
	}
	return children
}
