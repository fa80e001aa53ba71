//go:build unix

package proxytest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/fakestub"
	"tracewell/internal/test/gdbtest"
)

// showProbed prints the frames of tracedByProbe.
const showProbed = `
	python
	def show():
	  gdb.execute("tfind 0", to_string=True)
	  while int(gdb.parse_and_eval("$trace_frame")) >= 0:
	    number = int(gdb.parse_and_eval("$tracepoint"))
	    if number == 1:
	      gdb.execute('printf "work %lu %lu sp %lx passes %lu\\n", $a0, $a1, $sp, *(unsigned long *) $gp')
	    elif int(gdb.parse_and_eval("$pc == stored")):
	      gdb.execute('printf "stored %lu %lu sum %lu sp %lx saved %lu\\n", $a0, $a1, $a2, $sp, *(unsigned long *) $sp')
	    else:
	      gdb.execute('printf "step %d\\n", (long) $pc - (long) stored')
	    gdb.execute("tfind", to_string=True)
	end
`

// TestDebugProbes has stock GDB trace a program through the proxy at stubs with the habits of OpenOCD and of a Black Magic Probe, in RAM
// and in flash memory. The frames are compared with what the program keeps of itself.
func TestDebugProbes(t *testing.T) {
	for _, name := range []string{"openocd", "black-magic"} {
		for _, inRAM := range []bool{true, false} {
			memory := "flash"
			if inRAM {
				memory = "RAM"
			}
			t.Run(name+"/"+memory, func(t *testing.T) {
				t.Parallel()
				const passes = 12
				s := fakestub.New(fakestub.Config{Quirks: fakestub.Presets[name], InRAM: inRAM, Passes: passes})
				file := filepath.Join(t.TempDir(), "program.elf")
				if err := os.WriteFile(file, s.ELF(), 0o600); err != nil {
					t.Fatal(err)
				}
				roomy := inRAM || name != "openocd" // which has two comparators
				stored := ""
				if roomy {
					stored = `
						trace *stored if ($a0 & 3) == 1
						actions
						  collect $regs, *(unsigned long *) $sp
						  while-stepping 1
						    collect $regs
						  end
						end
					`
				}
				proxy := proxied(t, s.Listen(t), "--exec", file)
				output := gdbtest.RunMultiarch(t, fmt.Sprintf("set osabi none\nfile %s\ntarget remote %s\n", file, proxy.Address)+showProbed+`
					trace *work
					actions
					  collect $regs, *(unsigned long *) $gp
					end
					passcount 9 1
				`+stored+`
					set breakpoint always-inserted on
					hbreak *end
					tstart
					continue
					-- status --
					tstatus
					-- frames --
					python show()
					-- rest --
					tfind none
					-- more --
					trace *inner
					trace *kept
					? tstart
					-- rest --
					delete
					detach
				`)
				if diff := cmp.Diff(probed(s, passes, 9, roomy), output.Section(t, "frames")); diff != "" {
					t.Errorf("frames (-kept +found):\n%s", diff)
				}
				if got := output.Section(t, "status"); !strings.Contains(got, "Trace stopped by tracepoint 1") {
					t.Errorf("the status is %s", got)
				}
				compareRefusal(t, output.Section(t, "more"), roomy)
				if left, breaches := s.Inserted(), s.Breaches(); len(left)+len(breaches) > 0 || s.DeviceReads() > 0 {
					t.Errorf("left behind: %q; the stub cannot stand %q; reads of the device: %d", left, breaches, s.DeviceReads())
				}
			})
		}
	}
}

// compareRefusal looks at what tstart says of two more tracepoints: each that could not be set, and why.
func compareRefusal(t *testing.T, got string, roomy bool) {
	t.Helper()
	_, failed, _ := strings.Cut(got, "error: ")
	if (failed == "") != roomy {
		t.Errorf("two more tracepoints: %s", got)
	}
	for _, tracepoint := range []string{"tracepoint 3", "tracepoint 4"} {
		_, text, ok := strings.Cut(failed, "cannot install "+tracepoint)
		if !roomy && (!ok || !strings.Contains(text, "error 01; the stub has no hardware breakpoint for it")) {
			t.Errorf("%s is not in %s", tracepoint, got)
		}
	}
}

// probed is what the frames of a run have, up to the pass that ends it.
func probed(s *fakestub.Stub, passes, last uint64, stored bool) string {
	var b strings.Builder
	list := s.Instructions()
	step := list[slices.Index(list, s.Symbol("stored"))+1] - s.Symbol("stored")
	for pass := uint64(1); pass <= last; pass++ {
		kept, _ := s.Record(0, pass)
		fmt.Fprintf(&b, "work %d %d sp %x passes %d\n", kept.A0, kept.A1, kept.SP+16, pass-1)
		if stored && pass&3 == 1 && pass < last {
			fmt.Fprintf(&b, "stored %d %d sum %d sp %x saved %d\nstep %d\n", kept.A0, kept.A1, kept.Sum, kept.SP, kept.A0, step)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
