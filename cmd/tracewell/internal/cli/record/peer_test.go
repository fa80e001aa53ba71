package record_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/firmware"
)

var whole = flag.Bool("whole", false, "record every board, not only the quick ones")

// TestRecordFirmware records what is behind stubs that have no tracepoints, and holds the lines that are printed, and what show says of
// the file, to what the program keeps. The variables are in registers of all kinds of machines, in memory behind a pointer and
// on the stack.
func TestRecordFirmware(t *testing.T) {
	const calls = 12
	for _, b := range firmware.Boards() {
		t.Run(b.String(), func(t *testing.T) {
			if !*whole && b != firmware.CortexM3 && b != firmware.RV64 {
				t.Skip("a board of -whole")
			}
			m := firmware.Start(t, firmware.Build(t, b), firmware.Set("limit", calls))
			at := fmt.Sprintf("core.c:%d", m.Program.Line(t, "middle"))
			got, path := clitest.RecordInto(t, "-q", "--to", m.Addr, "--exec", m.Program.Path, "--at", at, "--if", "p->hart == 0",
				"--collect", "i, p->x, product, device, squares", "--format", "{i} {p->x} {product} {device} {squares}",
				"--at", "done", "--if", "hart == 0", "--pass", "1")
			if got.Status != 0 || got.Stderr != "" {
				t.Fatalf("status %d\n%s", got.Status, got.Stderr)
			}
			kept := m.Kept(t)
			var want []string
			for n := range calls {
				c, _ := kept.Call(0, n)
				var squares []string
				for k := range int32(4) {
					squares = append(squares, fmt.Sprint((c.Y+k)*(c.Y+k)))
				}
				want = append(want, fmt.Sprintf("%d %d %d %d {%s}", c.I, c.X, c.Product, c.Device, strings.Join(squares, ", ")))
			}
			lines := strings.Split(got.Stdout, "\n")
			if diff := cmp.Diff(want, lines[:min(calls, len(lines))]); diff != "" {
				t.Errorf("(-program +record)\n%s", diff)
			}
			shown := clitest.Run(t, "show", path, "--exec", m.Program.Path, "--full")
			for _, text := range want {
				var c [4]string
				values, squares, _ := strings.Cut(text, " {")
				fmt.Sscan(values, &c[0], &c[1], &c[2], &c[3])
				for i, name := range []string{"i", "p->x", "product", "device"} {
					if line := "\n" + name + " = " + c[i] + "\n"; !strings.Contains(shown.Stdout, line) {
						t.Errorf("show prints no %q", line)
					}
				}
				if !strings.Contains(shown.Stdout, "\nsquares = {"+squares) {
					t.Errorf("show prints no squares = {%s", squares)
				}
			}
		})
	}
}

// TestRecordSemihosting records a firmware that has its debugger write lines: nobody does, and it goes on.
func TestRecordSemihosting(t *testing.T) {
	m := firmware.StartSemihosting(t)
	got, _ := clitest.RecordInto(t, "-q", "--to", m.Addr, "--exec", m.Program.Path, "--at", "step", "--collect", "i",
		"--format", "{i}", "--at", "done", "--pass", "1")
	if lines := strings.Fields(got.Stdout); got.Status != 0 || len(lines) < firmware.SemihostingLines || lines[4] != "4" {
		t.Errorf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
}

// TestRecordStubErrors: what is wrong with a program behind a stub is told before the program has been resumed.
func TestRecordStubErrors(t *testing.T) {
	m := firmware.Start(t, firmware.Build(t, firmware.CortexM3))
	other := firmware.Build(t, firmware.RV64).Path
	for options, says := range map[string]string{
		"--at step":                                            "give its file (--exec)",
		"--at steep --exec " + m.Program.Path:                  "did you mean step?",
		"--at step --exec " + other:                            "it is a program for EM_RISCV, and only those for Arm of 32 bits can be recorded",
		"--at step --collect nothing --exec " + m.Program.Path: "nothing",
		"--at step --profile none --exec " + m.Program.Path:    `--profile: "none" is none of `,
		"--at step --tdesc nowhere --exec " + m.Program.Path:   "--tdesc: ",
		"--fetch": "the stub has no tracepoints",
	} {
		got, path := clitest.RecordInto(t, append([]string{"--to", m.Addr}, strings.Fields(options)...)...)
		if got.Status != 2 || !strings.Contains(got.Stderr, says) {
			t.Errorf("%s: status %d, %s, want %q", options, got.Status, got.Stderr, says)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a trace file", options)
		}
	}
}

// TestRecordLeaveStub: a run can be left to a stub with tracepoints only.
func TestRecordLeaveStub(t *testing.T) {
	m := firmware.Start(t, firmware.Build(t, firmware.CortexM3))
	got := clitest.Run(t, "record", "--to", m.Addr, "--exec", m.Program.Path, "--at", "step", "--disconnected")
	if want := "the stub has no tracepoints, so the run can't be left to it"; got.Status != 2 || !strings.Contains(got.Stderr, want) {
		t.Errorf("status %d, %s, want %q", got.Status, got.Stderr, want)
	}
}

// TestRecordDryStub: --dry-run prints what would be traced behind a stub, by a profile that is given, and lets the program go.
func TestRecordDryStub(t *testing.T) {
	m := firmware.Start(t, firmware.Build(t, firmware.CortexM3), firmware.Set("limit", 3))
	got, path := clitest.RecordInto(t, "--to", m.Addr, "--exec", m.Program.Path, "--at", "step", "--collect", "i", "--dry-run",
		"--profile", "qemu-system")
	if got.Status != 0 || !strings.Contains(got.Stdout, "Tracepoint 1 at 0x") || !strings.Contains(got.Stdout, "core.c:") {
		t.Errorf("status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a trace file")
	}
	if kept := m.Kept(t); kept.Tallies[0].Done != 1 { // nothing stopped it before its end
		t.Errorf("the program has kept %+v", kept.Tallies[0])
	}
}
