package check

import (
	"os"
	"strings"
	"testing"
)

// program reads a program that was traced.
func program(t *testing.T, name string) (*Program, string) {
	t.Helper()
	path := "../testdata/" + name
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	p, err := ReadProgram(f)
	if err != nil {
		t.Fatal(err)
	}
	return p, path
}

// TestPrograms checks tracepoints against the program, and has GDB do the same.
func TestPrograms(t *testing.T) {
	tests := []struct {
		name, program  string
		definition, at string
		rule, gdb      string
	}{
		{name: "fast on a long instruction", program: "queue", definition: "tp T2:401166:E:0:0:F0", at: "2a3078343031313636",
			gdb: "Fast tracepoint"},
		{name: "fast on a short instruction", program: "queue", definition: "tp T2:401157:E:0:0:F0", at: "2a3078343031313537",
			rule: "fast-instruction", gdb: "may not have a fast tracepoint"},
		{name: "in the program", program: "queue", definition: "tp T2:401157:E:0:0", at: "2a3078343031313537", gdb: "Tracepoint"},
		{name: "behind the program", program: "queue", definition: "tp T2:501157:E:0:0", at: "2a3078353031313537", rule: "load-address"},
		{name: "in a program loaded elsewhere", program: "queue_pie", definition: "tp T2:5555555552f1:E:0:0",
			at: "2a3078343031313537", rule: "load-address"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := good(t)
			key, _, _ := strings.Cut(strings.TrimPrefix(test.definition, "tp T"), ":E")
			file.tracepoints = []string{here + test.definition, "tp Z" + key + ":at:0:9:" + test.at}
			file.frames = [][]byte{frame(2), frame(2)}
			data, mark := file.bytes()
			p, path := program(t, test.program)
			report := opened(t, data, Options{Program: p})
			switch {
			case test.rule == "" && report.Verdict != WellFormed:
				t.Errorf("findings %v", report.Findings)
			case test.rule != "" && (len(report.Findings) != 1 || report.Findings[0].Rule.Name != test.rule || report.Findings[0].Offset != mark):
				t.Errorf("findings %v, want %s at %d", report.Findings, test.rule, mark)
			}
			if said := askOf(t, "gdb", path, [][]byte{data})[0]; !strings.Contains(strings.ToLower(said), strings.ToLower(test.gdb)) {
				t.Errorf("GDB did not say %q:\n%s", test.gdb, said)
			}
		})
	}
}
