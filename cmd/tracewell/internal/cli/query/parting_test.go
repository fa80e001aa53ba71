package query_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/view/wire"
)

// TestParting: the same program with another input parts where that matters, and in nothing else; an interrupt is no parting.
func TestParting(t *testing.T) {
	generated(t)
	for name, fault := range map[string]string{"same.log": "interrupt@7000", "poll.log": "poll@9000"} {
		succeed(t, "gen-trace", "-n", "20k", "--fault", fault, "-o", name)
	}
	got := succeed(t, "query", "parting", "run.log", "same.log", "--exec", "fw.elf")
	if got.Stdout != "the runs do not part: 20016 and 20008 instructions\n" || got.Stderr != "" {
		t.Errorf("%+v", got)
	}
	got = clitest.Run(t, "query", "parting", "same.log", "poll.log", "--exec", "fw.elf", "--exec", "fw.elf")
	if want := "    1  start     fw.elf.c:23  fw.elf.c:23 (4 rounds)\n"; got.Status != console.StatusFinding || !strings.HasSuffix(got.Stdout, want) {
		t.Errorf("%+v", got)
	}
	got = clitest.Run(t, "query", "parting", "same.log", "poll.log", "--exec", "fw.elf", "--json")
	var v wire.VersionComparison
	d := json.NewDecoder(strings.NewReader(got.Stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil || got.Status != console.StatusFinding || !v.Parts || len(v.Partings) != 1 ||
		v.Partings[0].Other.Steps[0].Rounds != 4 || v.Reference.Handlers != 1 || v.Other.Handlers != 0 {
		t.Errorf("%v, %+v", err, got)
	}
	// Calls alone do not tell how often a line is executed.
	succeed(t, "query", "parting", "same.log", "poll.log", "--exec", "fw.elf", "--by", "function")
}

// TestPartingBetween: programs of two producers that are not the same.
func TestPartingBetween(t *testing.T) {
	plain, rv64 := recorded(t, "plain.spike.log.zst"), recorded(t, "rv64.spike.log.zst")
	args := []string{"query", "parting", plain, recorded(t, "plain.ibex.log.zst"), "--exec", recorded(t, "plain.elf")}
	if got := succeed(t, args...); !strings.HasPrefix(got.Stdout, "the runs do not part: ") {
		t.Errorf("%+v", got)
	}
	got := clitest.Run(t, "query", "parting", plain, rv64, "--exec", recorded(t, "plain.elf"), "--exec", recorded(t, "rv64.elf"))
	if got.Status != console.StatusFinding || !strings.Contains(got.Stdout, "functions only in ") {
		t.Errorf("%+v", got)
	}
}

// TestPartingErrors: what cannot be compared is told in a line.
func TestPartingErrors(t *testing.T) {
	other := recorded(t, "rv64.spike.log.zst")
	generated(t)
	clitest.Put(t, "empty.jsonl", []byte(`{"kind":"event","name":"reset"}`+"\n"))
	for args, want := range map[string]string{
		"run.log run.log":                                           "--exec",
		"run.log run.log --exec none":                               "no such file",
		"run.log run.log --exec fw.elf --rename a":                  "OLD=NEW",
		"run.log fw.elf --exec fw.elf":                              "is not an execution trace",
		"run.log " + other + " --exec fw.elf":                       "executes no function of fw.elf",
		"- - --exec fw.elf":                                         "only one of the traces",
		"run.log run.log --exec fw.elf --exec fw.elf --exec fw.elf": "can be given twice",
		"run.log run.log --exec fw.elf --cpu 4":                     "executes no function",
	} {
		got := clitest.Run(t, append([]string{"query", "parting"}, strings.Fields(args)...)...)
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) || got.Stdout != "" {
			t.Errorf("query parting %s: %+v, not %q", args, got, want)
		}
	}
}
