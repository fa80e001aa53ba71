//go:build unix

package proxytest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
)

// tracewell runs the command of this tree to its end, and returns what it prints.
func tracewell(t *testing.T, args ...string) string {
	t.Helper()
	output, err := exec.Command(gdbtest.Binary(t), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("tracewell %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// replayed serves a recording.
func replayed(t *testing.T, recording, program string) *gdbtest.Server {
	t.Helper()
	return gdbtest.Start(t, gdbtest.Config{
		Server: []string{gdbtest.Binary(t), "replay", recording, "--exec", program, "--listen"}, Comm: ":0",
	})
}

// sameThrough runs a script at a server and through a proxy in front of it, and compares what GDB prints in some sections. It returns
// what it prints through the proxy.
func sameThrough(t *testing.T, server *gdbtest.Server, program, script string, sections ...string) *gdbtest.Output {
	t.Helper()
	at := func(address string) *gdbtest.Output {
		return gdbtest.RunMultiarch(t, "file "+program+"\ntarget remote "+address+"\n"+script)
	}
	direct, through := at(server.Address), at(proxied(t, server.Address).Address)
	for _, name := range sections {
		if diff := cmp.Diff(direct.Section(t, name), through.Section(t, name)); diff != "" {
			t.Errorf("%s: through the proxy it is not the same (-without +with):\n%s", name, diff)
		}
	}
	return through
}

// TestTraceFile has GDB walk through a trace file that is served behind the proxy, as it does without.
func TestTraceFile(t *testing.T) {
	t.Parallel()
	const calls = 40
	program := firmware.Build(t, firmware.LinuxX86)
	file := filepath.Join(t.TempDir(), "run.tf")
	tracewell(t, "record", "--at", "step", "--collect", "$regs, i, *p", "-o", file, "--", program.With(t, firmware.Set("limit", calls)))
	saved := filepath.Join(t.TempDir(), "saved.tf")
	output := sameThrough(t, replayed(t, file, program.Path), program.Path, printCalls+`
		-- status --
		tstatus
		info threads
		-- outside --
		info registers
		-- calls --
		python calls()
		-- frame --
		tfind 7
		tdump
		? print counter
		tfind none
		-- refused --
		? tstart
		? print counter = 3
		-- run --
		? continue
		-- rest --
		tsave `+saved+`
		detach
	`, "status", "outside", "calls", "frame", "refused")
	if got, want := parseCounted(t, output.Section(t, "calls")), (counted{calls, 0, calls - 1, 0}); got != want {
		t.Errorf("the frames are of %+v, want %+v", got, want)
	}
	for section, want := range map[string]string{
		"outside": "<unavailable>", "refused": "this trace run is a recording", "run": "a trace file cannot be run",
	} {
		if got := output.Section(t, section); !strings.Contains(got, want) {
			t.Errorf("%s: %s", section, got)
		}
	}
	tracewell(t, "check", saved)
}

// walk goes through an execution trace in both directions.
const walk = `
	-- walk --
	stepi 5
	reverse-stepi 2
	info registers
	break mix
	continue
	continue
	monitor where
	reverse-finish
	monitor where
	reverse-step
	reverse-next
	monitor where
	watch sum
	continue
	reverse-continue
	monitor where
	delete
	reverse-continue
	monitor where
	continue
	monitor where
	? reverse-stepi
	monitor goto #700
	monitor where
	-- conditions --
	set breakpoint condition-evaluation target
	break mix if seed % 7 == 0
	continue
	print seed
	monitor where
	monitor goto end
	reverse-continue
	print seed
	monitor where
	-- rest --
	delete
	detach
`

// TestExecution has GDB go through an execution trace behind the proxy, forwards and backwards, as it does without. Tracepoints of
// the proxy collect what breakpoints meet, and nothing on the way back.
func TestExecution(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log, program := filepath.Join(folder, "run.log"), filepath.Join(folder, "program.elf")
	tracewell(t, "gen-trace", "-n", "20000", "--elf", program, "-o", log)
	server := replayed(t, log, program)
	sameThrough(t, server, program, walk, "walk", "conditions")
	output := gdbtest.RunMultiarch(t, fmt.Sprintf("file %s\ntarget remote %s\n", program, proxied(t, server.Address).Address)+`
		trace mix
		actions
		  collect seed
		end
		tstart
		-- end --
		continue
		reverse-continue
		-- rest --
		tstop
		-- collected --
		python
		gdb.execute("tfind 0", to_string=True)
		while int(gdb.parse_and_eval("$trace_frame")) >= 0:
		  print("seed %d" % int(gdb.parse_and_eval("seed")))
		  gdb.execute("tfind", to_string=True)
		end
		-- rest --
		tfind none
		break mix
		-- met --
		python
		gdb.execute("continue", to_string=True)
		while gdb.selected_frame().name() == "mix":
		  print("seed %d" % int(gdb.parse_and_eval("seed")))
		  gdb.execute("continue", to_string=True)
		end
		-- rest --
		delete
		detach
	`)
	seeds := regexp.MustCompile("(?m)^seed [0-9]+$")
	met := seeds.FindAllString(output.Section(t, "met"), -1)
	if diff := cmp.Diff(met, seeds.FindAllString(output.Section(t, "collected"), -1)); diff != "" || len(met) < 20 {
		t.Errorf("tracepoints collect other calls than breakpoints meet (-met +collected):\n%s", diff)
	}
	// Without GDB addresses have no sign above their 32 bits.
	printed := tracewell(t, "record", "--to", server.Address, "--exec", program, "--at", "mix", "--collect", "seed", "--format", "seed {seed}",
		"--frames", fmt.Sprint(len(met)), "-o", filepath.Join(folder, "run.tf"))
	if recorded := seeds.FindAllString(printed, -1); !slices.Equal(recorded, met) {
		t.Errorf("record has %q, breakpoints have met %q", recorded, met)
	}
	if n := strings.Count(output.Section(t, "end"), "No more reverse-execution history"); n != 2 {
		t.Errorf("the ends are %s", output.Section(t, "end"))
	}
}
