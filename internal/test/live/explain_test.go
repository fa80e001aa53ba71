package live

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestMonitorTracepoints asks how each tracepoint of a program is collected, and holds the answers against the bytes that are in the
// program then: a jump has a first byte of its own, a short one another, and a breakpoint instruction a third. Which instructions are
// as long as a jump is what GDB's disassembler says.
func TestMonitorTracepoints(t *testing.T) {
	t.Parallel()
	p := testprog.Build(t, "spin", testprog.Variant{NoPIE: true})
	server := gdbtest.Serve(t, p.Path, "100", "push")
	places := []string{"tick_mov", "tick_push", "tick_push+1", "tick_nop", "tick_nop5", "main"}
	script := "target remote " + server.Address + inMain + "-- undefined --\nmonitor tracepoints\n-- lengths --\n"
	for i, place := range places {
		script += fmt.Sprintf("trace *(%s)\n", place)
		if place == "tick_nop5" { // the target steps behind the instruction, which is long enough for a jump
			script += "actions\nwhile-stepping 1\ncollect $regs\nend\nend\n"
		}
		script += fmt.Sprintf("python a = gdb.selected_frame().architecture().disassemble(int(gdb.parse_and_eval('(long)&%s')))[0]; "+
			"print('%d length %%d' %% a['length'])\n", place, i)
	}
	script += "-- armed --\ntstart\nmonitor tracepoints\n-- bytes --\n"
	for i, place := range places {
		script += fmt.Sprintf("python m = open('/proc/%%d/mem' %% gdb.selected_inferior().pid, 'rb', 0); "+
			"_ = m.seek(int(gdb.parse_and_eval('(long)&%s'))); print('%d byte %%02x' %% m.read(1)[0])\n", place, i)
	}
	script += "-- stopped --\ntstop\nmonitor tracepoints\n-- rest --\nkill\n"
	out := gdbtest.Run(t, p.Path, script)

	contains(t, out, "undefined", "No tracepoints are defined.")
	line := regexp.MustCompile(`(?m)^Tracepoint \d+ at 0x([0-9a-f]+): (.*)$`)
	said := map[string][]string{}
	for _, section := range []string{"armed", "stopped"} {
		for _, m := range line.FindAllStringSubmatch(out.Section(t, section), -1) {
			said[section] = append(said[section], m[2])
		}
		if len(said[section]) != len(places) {
			t.Fatalf("%s: %d lines, want %d\n%s", section, len(said[section]), len(places), out.Section(t, section))
		}
	}
	push := slices.Index(places, "tick_push")
	pushAt := line.FindAllStringSubmatch(out.Section(t, "armed"), -1)[push][1]
	first := map[string]string{"jump": "e9", "overlap": "e9", "pun": "e9", "short jump": "eb"}
	for i, place := range places {
		length := number(t, out, "lengths", fmt.Sprintf(`(?m)^%d length (\d+)$`, i))
		code := regexp.MustCompile(fmt.Sprintf(`(?m)^%d byte (..)$`, i)).FindStringSubmatch(out.Section(t, "bytes"))[1]
		armed := said["armed"][i]
		way, pad := strings.CutPrefix(armed, "pad, by ")
		t.Logf("%s, %d bytes: %s", place, length, armed)
		switch {
		case place == "tick_nop5" && !strings.HasPrefix(armed, "trap: while-stepping"), place != "tick_nop5" && !pad:
			t.Errorf("%s is said to be %q", place, armed)
		case place == "tick_push+1":
			if want := fmt.Sprintf("%s at 0x%s", strings.Replace(said["armed"][push], "by ", "by the ", 1), pushAt); armed != want {
				t.Errorf("%s is said to be %q, want %q", place, armed, want)
			}
		case pad && first[way] != code, !pad && code != "cc":
			t.Errorf("%s is said to be %q, and its first byte is %s", place, armed, code)
		case pad && (way == "jump") != (length >= 5):
			t.Errorf("%s is said to be %q, and the instruction has %d bytes", place, armed, length)
		}
		if said["stopped"][i] != "not installed" {
			t.Errorf("behind the run %s is said to be %q", place, said["stopped"][i])
		}
	}
}
