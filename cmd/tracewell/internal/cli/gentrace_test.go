//go:build linux

package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/itrace/generate"
)

// TestGenerateTrace: the trace goes where it is wanted, and where the faults are is said to people and to programs.
func TestGenerateTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	got := clitest.Run(t, "gen-trace", "-n", "1k", "--fault", "drop@600:3", "--fault", "value@20", "--planted", "faults.json")
	want := "tracewell: value@20: planted at instruction 21, line 44, pc 0x800080ec, sp\n"
	if got.Status != console.StatusDone || !strings.HasPrefix(got.Stderr, want) || strings.Count(got.Stderr, "\n") != 2 {
		t.Errorf("%+v", got.Stderr)
	}
	var answer generate.Outcome
	if err := json.Unmarshal([]byte(clitest.Content(t, "faults.json")), &answer); err != nil || len(answer.Planted) != 2 ||
		answer.Planted[1].Fault != "drop@600:3" || answer.Planted[1].Instruction != 600 || answer.Missed != nil {
		t.Errorf("%v: %+v", err, answer)
	}
	for _, name := range []string{"plain.log", "packed.log.gz", "packed.log.zst", "/dev/null"} {
		if out := clitest.Run(t, "gen-trace", "-n", "1000", "-o", name); out.Status != console.StatusDone || out.Stderr != "" || out.Stdout != "" {
			t.Errorf("%s: %+v", name, out)
		}
	}
	plain := clitest.Content(t, "plain.log")
	for name, suffix := range map[string]string{"packed.log.gz": ".gz", "packed.log.zst": ".zst"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if file, err := packed.Open(f, nil); err != nil || file.Method == nil || file.Method.Suffix != suffix || string(file.Bytes()) != plain {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGenerateLook has each option of the look of a trace change it in that way.
func TestGenerateLook(t *testing.T) {
	for args, want := range map[string]string{
		"":                   "1 clk 0 IT (0) 80008000 3c105bd1 A svc : ",
		"--upper":            "1 clk 0 IT (0) 80008000 3C105BD1 A svc : ",
		"--digits 16":        "1 clk 0 IT (0) 0000000080008000 3c105bd1 A svc : ",
		"--time-base 41":     "42 clk 0 IT (0) 80008000 3c105bd1 A svc : ",
		"--scale ns":         "1 ns 0 IT (0) 80008000 3c105bd1 A svc : ",
		"--id-base 7":        "1 clk 0 IT (7) 80008000 3c105bd1 A svc : ",
		"--security ns":      "1 clk 0 IT (0) 80008000 3c105bd1 A svc_ns : ",
		"--crlf --seed 3":    "1 clk 0 IT (0) 80008000 3c105bd1 A svc : ",
		"--fault opcode@0":   "1 clk 0 IT (0) 80008000 3c1053d1 A svc : ",
		"--late 3 --shuffle": "1 clk 0 IT (0) 80008000 3c105bd1 A svc : ",
	} {
		got := clitest.Run(t, append([]string{"gen-trace", "-n", "50"}, strings.Fields(args)...)...)
		if got.Status != console.StatusDone || !strings.HasPrefix(got.Stdout, want) || strings.Contains(got.Stdout, "\r\n") != strings.Contains(args, "--crlf") {
			t.Errorf("%s: %.200s%s", args, got.Stdout, got.Stderr)
		}
	}
	two := clitest.Run(t, "gen-trace", "-n", "50", "--cpus", "2", "--plain-names").Stdout
	if strings.Count(two, " IT ") != 100 || !strings.Contains(two, " clk 1 IT ") || !strings.Contains(two, " R r8 ") {
		t.Errorf("%.300s", two)
	}
}

func TestGenerateMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"-n 0":                         `"0" is no number of instructions`,
		"-n 1T":                        `"1T" is no number of instructions`,
		"-n 9000000G":                  `"9000000G" is no number`,
		"--fault crash@1":              `there is no kind "crash"`,
		"--fault drop":                 `"drop" is no fault: want KIND@INSTRUCTION`,
		"--cpus 0":                     "--cpus 0: want 1 to 1024",
		"--digits 4":                   "--digits 4: want 8 to 64",
		"--late -1":                    "--late",
		"--security x":                 "--security",
		"--scale=":                     "want one word",
		"-n 100 --fault drop@100":      "drop@100: not planted",
		"-n 100 --fault drop@5.1":      "drop@5.1: not planted",
		"-n 100 --fault value@5 extra": "extra",
		"-o no/where":                  "no/where",
		"-o .":                         "not a regular file",
	} {
		if got := clitest.Run(t, append([]string{"gen-trace"}, strings.Fields(args)...)...); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: want %q: exit status %d: %s", args, want, got.Status, got.Stderr)
		}
	}
}

// TestGenerateHelp lists every kind of fault.
func TestGenerateHelp(t *testing.T) {
	got := clitest.Run(t, "gen-trace", "--help")
	kinds, texts := generate.FaultKinds()
	for i, kind := range kinds {
		if !strings.Contains(got.Stdout, string(kind)) || !strings.Contains(got.Stdout, texts[i]) {
			t.Errorf("--help lacks %s, %s", kind, texts[i])
		}
	}
}

// TestGenerateUnread stops writing for a reader that goes away: this would go on for days.
func TestGenerateUnread(t *testing.T) {
	clitest.AsTracewell(t)
	if out, status := clitest.Shell(t, "tracewell gen-trace -n 1000G | head -n 2"); status != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("exit status %d: %s", status, out)
	}
}
