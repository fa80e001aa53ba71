//go:build unix

package proxytest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/fakestub"
	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// endless starts a machine whose program never ends, with a pause between two calls of step.
func endless(t testing.TB, b firmware.Board) *peer {
	t.Helper()
	m := firmware.Start(t, firmware.Build(t, b), firmware.Set("limit", 0), firmware.Set("pauses", 1000))
	return &peer{m.Program, m.Addr, m.Kept, m}
}

// printCalls prints the numbers of the calls that the frames of tracepoint 1 are of, and how many are not by one above that of the frame
// before.
const printCalls = `
	python
	def calls():
	  numbers, gaps = [], 0
	  gdb.execute("tfind 0", to_string=True)
	  while int(gdb.parse_and_eval("$trace_frame")) >= 0:
	    if int(gdb.parse_and_eval("$tracepoint")) == 1:
	      numbers.append(int(gdb.parse_and_eval("i")))
	    gdb.execute("tfind", to_string=True)
	  for a, b in zip(numbers, numbers[1:]):
	    gaps += b != a + 1
	  print("calls %d first %d last %d gaps %d" % (len(numbers), numbers[0], numbers[-1], gaps))
	end
`

// counted is what printCalls prints.
type counted struct{ calls, first, last, gaps int }

func parseCounted(t *testing.T, section string) (c counted) {
	t.Helper()
	_, line, _ := strings.Cut(section, "calls ")
	if _, err := fmt.Sscanf("calls "+line, "calls %d first %d last %d gaps %d", &c.calls, &c.first, &c.last, &c.gaps); err != nil {
		t.Fatalf("%v: %q", err, section)
	}
	return c
}

const collectCalls = `
	trace *step
	actions
	  collect i, *p
	end
`

// TestCircularBuffer fills a small buffer several times over: it ends with the last calls, each there once.
func TestCircularBuffer(t *testing.T) {
	t.Parallel()
	const calls = 500
	p := onBoard(t, firmware.CortexM3, calls)
	proxy := proxied(t, p.address, "--exec", p.program.Path)
	output := gdbtest.RunMultiarch(t, debugged(p, proxy)+printCalls+collectCalls+`
		set circular-trace-buffer on
		set trace-buffer-size 4000
		break *done
		tstart
		continue
		tstop
		-- status --
		tstatus
		-- calls --
		python calls()
	`)
	got := parseCounted(t, output.Section(t, "calls"))
	if got.last != calls-1 || got.gaps != 0 || got.calls < 30 || got.calls > 200 {
		t.Errorf("the buffer has %+v", got)
	}
	if status := output.Section(t, "status"); !strings.Contains(status, fmt.Sprintf("Buffer contains %d trace frames (of %d created total)", got.calls, calls)) ||
		!strings.Contains(status, "Trace buffer is circular") {
		t.Errorf("the status is %s", status)
	}
	if kept := p.kept(t); kept.Tallies[0].Misreads != 0 {
		t.Errorf("%d misreads", kept.Tallies[0].Misreads)
	}
}

// TestPassCount ends a run by a count, with the program running on, and GDB fetches the frames while it runs.
func TestPassCount(t *testing.T) {
	t.Parallel()
	p := endless(t, firmware.RV64)
	proxy := proxied(t, p.address, "--exec", p.program.Path)
	output := gdbtest.RunMultiarch(t, debugged(p, proxy)+printCalls+collectCalls+`
		passcount 25
		break *step if counter == 100
		tstart
		continue
		-- status --
		tstatus
		-- calls --
		python calls()
		-- counter --
		tfind none
		print counter
	`)
	if got, want := parseCounted(t, output.Section(t, "calls")), (counted{25, 0, 24, 0}); got != want {
		t.Errorf("the buffer has %+v, want %+v", got, want)
	}
	if status := output.Section(t, "status"); !strings.Contains(status, "Trace stopped by tracepoint 1") {
		t.Errorf("the status is %s", status)
	}
	if got := output.Section(t, "counter"); !strings.HasSuffix(got, "= 100") {
		t.Errorf("the counter is %s", got)
	}
}

// TestDisconnected leaves a run to itself, by detaching and by a GDB that is killed, and finds its frames with another GDB.
func TestDisconnected(t *testing.T) {
	for name, leave := range map[string]string{"detach": "detach\n", "disconnect": "disconnect\n", "kill": "continue\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := endless(t, firmware.CortexM3)
			proxy := proxied(t, p.address, "--exec", p.program.Path)
			// Whoever leaves a program that stands still leaves it standing, but for detach.
			script := debugged(p, proxy) + collectCalls + `
				set disconnected-tracing on
				tstart
				tbreak *step if counter == 20
				continue
			` + leave
			if name == "kill" {
				killedGDB(t, p, script, 50)
			} else {
				gdbtest.RunMultiarch(t, script)
			}
			if name != "disconnect" {
				seen := p.kept(t).Tallies[0].Calls
				p.machine.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls > seen+100 })
			}
			output := gdbtest.RunMultiarch(t, debugged(p, proxy)+printCalls+`
				-- status --
				tstatus
				-- calls --
				tstop
				python calls()
				-- rest --
				tfind none
				delete
				detach
			`)
			got := parseCounted(t, output.Section(t, "calls"))
			if got.first != 0 || got.gaps != 0 || name != "disconnect" && got.calls < 120 || got.calls < 20 {
				t.Errorf("the buffer has %+v", got)
			}
			if status := output.Section(t, "status"); !strings.Contains(status, "Trace is running on the target") {
				t.Errorf("the status is %s", status)
			}
			seen := p.kept(t).Tallies[0].Calls
			kept := p.machine.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls > seen+100 })
			if kept.Tallies[0].Misreads != 0 {
				t.Errorf("%d misreads", kept.Tallies[0].Misreads)
			}
		})
	}
}

// killedGDB runs a script in a GDB that is killed when the program has made a number of calls.
func killedGDB(t *testing.T, p *peer, script string, calls uint32) {
	t.Helper()
	gdb := startGDB(t, script)
	p.machine.Until(t, func(k *firmware.Kept) bool { return k.Tallies[0].Calls >= calls })
	gdb.Process.Kill()
	gdb.Wait()
}

// startGDB starts a GDB with a script that does not end.
func startGDB(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.gdb")
	if err := os.WriteFile(path, []byte("set confirm off\nset pagination off\n"+strings.ReplaceAll(script, "\t", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	gdb := testtool.Command(t, "gdb-multiarch", "-nx", "-nh", "-batch", "-x", path)
	gdb.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := gdb.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { gdb.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		gdb.Process.Kill()
	})
	return gdb
}

// TestPassedOn has the stub do what the proxy knows nothing of: monitor commands, the auxiliary vector, the memory map.
func TestPassedOn(t *testing.T) {
	t.Run("QEMU", passedToQEMU)
	t.Run("gdbserver", func(t *testing.T) {
		t.Parallel()
		p := underServer(t, []string{testtool.Path(t, "gdbserver")}, firmware.Set("limit", 10))
		copied, put := filepath.Join(t.TempDir(), "copied"), filepath.Join(t.TempDir(), "put")
		proxy := proxied(t, p.address)
		output := gdbtest.RunMultiarch(t, debugged(p, proxy)+`
			-- auxv --
			info auxv
			-- monitor --
			monitor help
			-- mappings --
			info proc mappings
			-- file --
			remote get `+p.program.Path+" "+copied+`
			remote put `+copied+" "+put+`
			-- rest --
			kill
		`)
		own, err := os.ReadFile(p.program.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{copied, put} {
			if got, err := os.ReadFile(file); !bytes.Equal(got, own) {
				t.Errorf("%s has %d bytes of %d: %v", file, len(got), len(own), err)
			}
		}
		for section, want := range map[string]string{"auxv": "AT_ENTRY", "monitor": "set debug", "mappings": p.program.Board.String()} {
			if got := output.Section(t, section); !strings.Contains(got, want) {
				t.Errorf("%s: %q", section, got)
			}
		}
	})
	t.Run("vgdb", func(t *testing.T) {
		t.Parallel()
		p := onBoard(t, firmware.LinuxX86, 10)
		proxy := proxied(t, p.address)
		output := gdbtest.RunMultiarch(t, debugged(p, proxy)+`
			-- auxv --
			info auxv
			-- monitor --
			monitor v.info n_errs_found
			-- rest --
			kill
		`)
		for section, want := range map[string]string{"auxv": "AT_ENTRY", "monitor": "n_errs_found 0"} {
			if got := output.Section(t, section); !strings.Contains(got, want) {
				t.Errorf("%s: %q", section, got)
			}
		}
	})
}

// passedToQEMU has the monitor, physical addresses and a reset.
func passedToQEMU(t *testing.T) {
	t.Parallel()
	p := endless(t, firmware.RV64)
	proxy := proxied(t, p.address)
	output := gdbtest.RunMultiarch(t, debugged(p, proxy)+`
		-- monitor --
		monitor info version
		-- none --
		? monitor nonsense
		-- physical --
		maint packet qqemu.PhyMemMode
		maint packet Qqemu.PhyMemMode:1
		maint packet qqemu.PhyMemMode
		maint packet Qqemu.PhyMemMode:0
		-- reset --
		tbreak *step if counter == 5
		continue
		print $pc == (long) step
		monitor system_reset
		maint flush register-cache
		print $pc == (long) step
		tbreak *step
		continue
		print counter
		-- rest --
		detach
	`)
	if got := output.Section(t, "monitor"); !strings.Contains(got, ".") {
		t.Errorf("QEMU's monitor says %q", got)
	}
	if got := output.Section(t, "none"); !strings.Contains(got, "nonsense") {
		t.Errorf("QEMU's monitor says %q", got)
	}
	var replies []string
	for line := range strings.Lines(output.Section(t, "physical")) {
		if reply, ok := strings.CutPrefix(line, "received: "); ok {
			replies = append(replies, strings.TrimSpace(reply))
		}
	}
	if diff := cmp.Diff([]string{`"0"`, `"OK"`, `"1"`, `"OK"`}, replies); diff != "" {
		t.Errorf("physical addresses (-want +got):\n%s", diff)
	}
	if got := output.Section(t, "reset"); !strings.Contains(got, "$1 = 1") || !strings.Contains(got, "$2 = 0") || !strings.HasSuffix(got, "$3 = 0") {
		t.Errorf("the reset: %s", got)
	}
}

// TestProbe has a stub of microcontrollers be asked for what those have besides: the memory map, flash memory, a reset.
func TestProbe(t *testing.T) {
	t.Parallel()
	s := fakestub.New(fakestub.Config{})
	file := filepath.Join(t.TempDir(), "program.elf")
	if err := os.WriteFile(file, s.ELF(), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := proxied(t, s.Listen(t))
	const behind = 0x8000 // of the program: where it is loaded once more
	output := gdbtest.RunMultiarch(t, fmt.Sprintf(`
		set osabi none
		file %s
		target remote %s
		-- regions --
		info mem
		-- load --
		load %[1]s %#[3]x
		-- compare --
		compare-sections
		-- monitor --
		monitor some words
		-- reset --
		tbreak *work
		continue
		monitor reset
		maint flush register-cache
		print $pc == %#[4]x
		-- restart --
		maint packet R00
		-- objects --
		maint packet qXfer:nonsense:read::0,10
		-- rest --
		detach
	`, file, proxy.Address, behind, s.Symbol("start")))
	for section, want := range map[string]string{
		"regions": "flash blocksize", "compare": "matched", "monitor": "some words", "reset": "= 1", "restart": `received: ""`,
		"objects": `received: ""`,
	} {
		if got := output.Section(t, section); !strings.Contains(got, want) {
			t.Errorf("%s: %s", section, got)
		}
	}
	instructions := s.Instructions()
	from, size := instructions[0], int(instructions[len(instructions)-1]-instructions[0])
	if code := s.Memory(from, size); !bytes.ContainsAny(code, "#$}*") || !bytes.Equal(s.Memory(from+behind, size), code) {
		t.Errorf("flash memory has\n%x\nnot\n%x", s.Memory(from+behind, size), code)
	}
	transcript := strings.Join(s.Transcript(), "\n")
	for _, packet := range []string{"vFlashErase:", "vFlashWrite:", "vFlashDone", "qXfer:memory-map:read::"} {
		if !strings.Contains(transcript, "> "+packet) {
			t.Errorf("the stub has not had any %s", packet)
		}
	}
}

// TestInterrupt stops a running program by Ctrl-C while hits come as fast as they can, time and again.
func TestInterrupt(t *testing.T) {
	for _, b := range []firmware.Board{firmware.CortexM3, firmware.RV64x2} {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			p := endless(t, b)
			proxy := proxied(t, p.address)
			const times = 8
			output := gdbtest.RunMultiarch(t, debugged(p, proxy)+collectCalls+`
				python
				import threading, os, signal, time
				def stops(times):
				  for n in range(times):
				    threading.Timer(0.05 + 0.013 * n, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
				    gdb.execute("continue", to_string=True)
				    print("stopped %d" % n)
				end
				tstart
				-- stops --
				python stops(`+fmt.Sprint(times)+`)
				-- status --
				tstatus
				-- rest --
				tstop
				delete
				detach
			`)
			if n := strings.Count(output.Section(t, "stops"), "stopped "); n != times {
				t.Errorf("%d stops, want %d: %s", n, times, output.Section(t, "stops"))
			}
			kept := p.kept(t)
			if !strings.Contains(output.Section(t, "status"), "Trace is running") || kept.Tallies[0].Misreads != 0 {
				t.Errorf("%s; the program has kept %+v", output.Section(t, "status"), kept.Tallies)
			}
		})
	}
}
