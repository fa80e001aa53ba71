package tfile

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
)

// breach is a file that breaks a rule, and what GDB 13.1 prints when it opens it, selects the first frame and goes on to the
// one behind it.
type breach struct {
	rule     *Rule
	severity Severity
	lines    string // behind a tp line
	frames   string
	gdb      []string
}

func breaches() []breach {
	const end = "\x00\x00\x00\x00"
	frame := func(size int) string { return sized(size, 1) }
	big := Builder{Order: binary.BigEndian}
	big.Begin(nil, 1)
	clear(big.Registers(16))
	first, second := "Found trace frame 0, tracepoint 1", "Found trace frame 1, tracepoint 1"
	return []breach{
		{RuleUnknownLine, Odd, "R 10\nlater something\n", frame(16) + end, []string{`Ignoring trace file definition "later something"`, first}},
		{RuleStatusReply, Misreads, "R 10\nstatus T1;tstop::0;tframes:1\n", frame(16) + end, []string{"Trace stopped for an unknown reason", first}},
		{RuleBadLine, Misreads, "R 10\ntp Q1:10\n", frame(16) + end, []string{"Unrecognized tracepoint piece 'Q', ignoring", first}},
		{RuleLongLine, Refuses, "R 10\ntdesc " + strings.Repeat(" ", MaxLine) + "\n", frame(16) + end, []string{"Excessively long lines in trace file"}},
		{RuleRegisterSize, Refuses, "", frame(16) + end, []string{"No register block size recorded in trace file"}},
		{RuleDecimalSize, Refuses, "R 500\n", frame(500) + end, []string{"Premature end of file"}},
		{RuleByteOrder, Misreads, "R 10\ntdesc <target><architecture>i386</architecture></target>\n", string(big.Finish()) + end,
			[]string{"Found trace frame 0, tracepoint 256", "Premature end of file"}},
		{RuleConcatenated, Misreads, "R 10\n", frame(16) + end + Magic + "R 10\n\n" + frame(16) + end, []string{first, "No trace frame found"}},
		{RuleTrailing, Misreads, "R 10\n", frame(16) + end + "trailing", []string{first, "No trace frame found"}},
		{RuleLost, Refuses, "R 10\n", frame(16) + "damage" + frame(16) + end, []string{first, "Unknown block type"}},
		{RuleHidden, Misreads, "R 10\n", frame(16) + "\x00\x00damage" + frame(16) + end, []string{first, "No trace frame found"}},
		{RuleLargeRegisters, Crashes, "R 1000000\n", frame(1<<24) + end, []string{"Segmentation fault"}},
		{RuleUndefined, Crashes, "R 10\ntp A7:10:R01\n", frame(16) + end, []string{"internal-error: new_breakpoint_from_type"}},
		// What is no breach, so that the others are the cause of what GDB prints.
		{nil, Odd, "R 10\n", frame(16) + frame(16) + end, []string{first, second}},
	}
}

func (b breach) file() []byte {
	return []byte(Magic + "tp T1:1000:E:0:0\nstatus 0;tunknown:0;tframes:1\n" + b.lines + "\n" + b.frames)
}

// TestRules opens files that break each rule, with recovery, without which no stretch is lost.
func TestRules(t *testing.T) {
	for _, b := range breaches() {
		f, err := OpenBytes(b.file(), WithRecovery())
		if err != nil {
			t.Errorf("%v: %v", b.rule, err)
			continue
		}
		if b.rule == nil {
			if len(f.Findings()) > 0 {
				t.Errorf("a good file has %v", f.Findings())
			}
			continue
		}
		if len(f.Findings()) != 1 || f.Findings()[0].Rule != b.rule || b.rule.Severity != b.severity {
			t.Errorf("%s, %v: found %v", b.rule.Name, b.rule.Severity, f.Findings())
		}
	}
}

// TestRulesInGDB holds the severities against GDB.
func TestRulesInGDB(t *testing.T) {
	for _, b := range breaches() {
		name := filepath.Join(t.TempDir(), "trace.tf")
		if err := os.WriteFile(name, b.file(), 0o666); err != nil {
			t.Fatal(err)
		}
		printed, survived := runGDB(t, "target tfile "+name, "tstatus", "tfind 0", "print $pc", "tfind")
		for _, want := range b.gdb {
			if !strings.Contains(printed, want) {
				t.Errorf("%v: GDB did not print %q:\n%s", b.rule, want, printed)
			}
		}
		if survived == (b.severity == Crashes) {
			t.Errorf("%v: GDB survived: %v\n%s", b.rule, survived, printed)
		}
		if shown := strings.Contains(printed, "Found trace frame 0"); b.severity == Misreads && !shown {
			t.Errorf("%v: GDB shows no frame:\n%s", b.rule, printed)
		}
	}
}

// runGDB runs commands in a GDB of their own, which they may be the end of.
func runGDB(t *testing.T, commands ...string) (printed string, survived bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, "gdb"), "-nx", "-nh", "-batch")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "LC_ALL=C", "DEBUGINFOD_URLS=")
	for _, command := range commands {
		cmd.Args = append(cmd.Args, "-ex", command)
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode() >= 0
}

func TestWords(t *testing.T) {
	finding := Finding{12, RuleLost, "3 bytes"}
	words := []struct{ got, want string }{
		{finding.String(), "offset 12: lost: 3 bytes"},
		{Odd.String() + Misreads.String() + Refuses.String() + Crashes.String(), "oddmisreadsrefusescrashes"},
		{SizeDecimal.String(), "of the R line, in decimal"},
		{OrderAssumed.String(), "assumed"},
	}
	for _, w := range words {
		if w.got != w.want {
			t.Errorf("%q, want %q", w.got, w.want)
		}
	}
}
