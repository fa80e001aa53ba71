package firmware

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
)

// TestFloor takes the floor at each stub, and sees by the program's own count that each hit was one.
func TestFloor(t *testing.T) {
	eachBoard(t, func(t *testing.T, b Board) {
		const hits = 200
		m := Start(t, Build(t, b), Set("limit", 0), Set("pauses", 0))
		took := m.Floor(t, hits)
		t.Logf("%v a hit", took)
		if took < time.Microsecond || took > time.Second {
			t.Errorf("a hit took %v", took)
		}
		if !b.Bare() {
			return // what it has kept can be read in its end only, and that it has not
		}
		calls := 0
		for hart := range b.Harts() {
			calls += int(m.Kept(t).Tallies[hart].Calls)
		}
		if calls < hits-b.Harts() || calls > hits {
			t.Errorf("%d hits of step, and %d calls of it have returned", hits, calls)
		}
	})
}

// TestMisread plants a second reader of the device, GDB, and sees that the program notices it.
func TestMisread(t *testing.T) {
	devices := map[Board]uint64{CortexM3: 0x40008008, AArch64: 0x09020000, RV64: 0x10000000} // X86 has it at an I/O port
	for b, device := range devices {
		t.Run(b.String(), func(t *testing.T) {
			if !quick[b] && !*whole {
				t.Skip("a board of -whole")
			}
			m := Start(t, Build(t, b), Set("limit", 8))
			gdbtest.RunMultiarch(t, fmt.Sprintf(`
				file %s
				target remote %s
				break step if i == 5
				continue
				print/x *(unsigned char *) %#x
				delete
				break done
				continue
			`, m.Program.Path, m.Addr, device))
			if tally := m.Kept(t).Tallies[0]; tally.Misreads == 0 || tally.Calls != 8 {
				t.Errorf("GDB has read the device as well, and the program keeps %+v", tally)
			}
		})
	}
}

// TestReset resets a machine whose program is done: that begins anew. That it is done is cleared by GDB before, since RAM
// outlives a reset.
func TestReset(t *testing.T) {
	eachBoard(t, func(t *testing.T, b Board) {
		if !b.Bare() {
			return
		}
		m := Start(t, Build(t, b), Set("limit", calls), Set("pauses", 1000), Running())
		done := func(k *Kept) bool { return k.Tallies[0].Done == 1 && k.Tallies[b.Harts()-1].Done == 1 }
		before := m.Until(t, done)
		if !m.Runs(t) {
			t.Error("the machine does not run when its program is done")
		}
		gdbtest.RunMultiarch(t, fmt.Sprintf(`
			file %s
			target remote %s
			set var kept.tallies[0].done = 0
			set var kept.tallies[1].done = 0
			detach
		`, m.Program.Path, m.Addr))
		if cleared := m.Kept(t); done(cleared) {
			t.Fatalf("GDB has cleared what the program keeps: %+v", cleared.Tallies)
		}
		m.Reset(t)
		if after := m.Until(t, done); before.Tallies != after.Tallies || before.Tallies[0].Calls != calls {
			t.Errorf("before the reset %+v, after it %+v", before.Tallies, after.Tallies)
		}
	})
}

// TestKill kills a machine while a client waits for a stop: the client sees the end of the connection, and no other gets one.
func TestKill(t *testing.T) {
	eachBoard(t, func(t *testing.T, b Board) {
		m := Start(t, Build(t, b), Set("limit", 0))
		conn := m.Connect(t)
		if _, err := io.WriteString(conn, "$?#3f"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "+$c#63")
		time.AfterFunc(20*time.Millisecond, m.Kill)
		io.Copy(io.Discard, conn) // to the end of the connection, be it a reset
		m.Kill()                  // waits
		if conn, err := net.Dial("tcp", m.Addr); err == nil {
			conn.Close()
			t.Error("somebody listens at the stub's address still")
		}
	})
}

// TestOrphan kills a process that has started a machine, as a test that is out of time is killed: the machine ends, too.
func TestOrphan(t *testing.T) {
	if os.Getenv("FIRMWARE_ORPHAN") != "" {
		fmt.Println("pid", Start(t, Build(t, CortexM3), Set("limit", 0), Running()).process.cmd.Process.Pid)
		select {}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	test := exec.Command(self, "-test.run", "^TestOrphan$")
	test.Env = append(os.Environ(), "FIRMWARE_ORPHAN=1")
	stdout, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, err = fmt.Fscanf(bufio.NewReader(stdout), "pid %d\n", &pid)
	test.Process.Kill()
	test.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(status) == 0 { // gone, or not reaped yet
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("process %d lives on: %q", pid, status)
		}
	}
}
