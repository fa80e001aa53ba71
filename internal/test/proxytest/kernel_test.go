//go:build unix

package proxytest

import (
	"fmt"
	"testing"
	"time"

	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
)

// TestKernel traces a function of a Linux kernel, which its only process calls with one number after the other: ten thousand hits, of
// which none is missing and none is there twice.
func TestKernel(t *testing.T) {
	if !*whole {
		t.Skip("boots a kernel, which may have to be downloaded: with -whole")
	}
	const hits = 10_000
	m := firmware.StartKernel(t, firmware.For(15*time.Minute))
	p := &peer{program: m.Program, address: m.Addr, machine: m}
	proxy := proxied(t, p.address)
	// The first argument of a system call is rdi of the registers that the kernel has saved, and rdi points to these.
	output := gdbtest.RunMultiarch(t, debugged(p, proxy)+fmt.Sprintf(`
		set breakpoint condition-evaluation target
		tvariable $hits = 0
		trace *__x64_sys_umask
		actions
		  collect $regs, ((long *) $rdi)[14]
		  teval $hits = $hits + 1
		end
		set trace-buffer-size 20000000
		tstart
		break *__x64_sys_umask if $hits == %d
		continue
		tstop
		-- status --
		tstatus
		-- arguments --
		python
		numbers = []
		gdb.execute("tfind 0", to_string=True)
		while int(gdb.parse_and_eval("$trace_frame")) >= 0:
		  numbers.append(int(gdb.parse_and_eval("((long *) $rdi)[14]")))
		  gdb.execute("tfind", to_string=True)
		gaps = sum(b != a + 1 for a, b in zip(numbers, numbers[1:]))
		print("calls %%d first %%d last %%d gaps %%d" %% (len(numbers), numbers[0], numbers[-1], gaps))
		end
		-- rest --
		tfind none
		delete
		detach
	`, hits))
	got := parseCounted(t, output.Section(t, "arguments"))
	if got.calls != hits || got.gaps != 0 || got.last != got.first+hits-1 {
		t.Errorf("the frames are %+v; the status is %s", got, output.Section(t, "status"))
	}
	seen := m.Calls(t)
	if seen < got.last {
		t.Errorf("%d calls have returned, and %d was traced", seen, got.last)
	}
}
