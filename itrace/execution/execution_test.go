package execution_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/itrace/execution"
	"tracewell/itrace/generate"
	"tracewell/itrace/matcher"
)

// text is a trace of an instruction that writes some registers.
func text(registers ...string) string {
	lines := "1 clk 0 IT (1) 00001000 00000000 A svc : nop\n"
	for _, name := range registers {
		lines += "1 clk R " + name + " 00000001\n"
	}
	return lines
}

// TestUnclear opens traces of which the names of registers tell the machine, and others. What nothing tells is no error, and an
// architecture that is none of the table is one.
func TestUnclear(t *testing.T) {
	for name, test := range map[string]struct {
		registers []string
		want      string
	}{
		"mips":    {[]string{"t0", "v0", "ra", "hi"}, "mips"},
		"nothing": {nil, ""},
		"x86":     {[]string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11"}, ""},
	} {
		content := text(test.registers...)
		source := execution.Source{Name: name, Content: strings.NewReader(content), Size: int64(len(content))}
		e, _, err := execution.Open(source, matcher.Dialect, execution.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Machine != nil {
			got = e.Machine.Name
		}
		if got != test.want || (e.Unclear == nil) != (test.want != "") {
			t.Errorf("%s: %q, want %q; %v", name, got, test.want, e.Unclear)
		}
		if _, _, err := execution.Open(source, matcher.Dialect, execution.Options{Arch: "pdp11"}); err == nil {
			t.Errorf("%s: an architecture that there is none of", name)
		}
	}
}

// TestNamed finds a register by all its names.
func TestNamed(t *testing.T) {
	content := text("t0", "v0", "ra", "hi", "other")
	source := execution.Source{Content: strings.NewReader(content), Size: int64(len(content))}
	e, _, err := execution.Open(source, matcher.Dialect, execution.Options{Arch: "mips"})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := e.Trace()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"t0": "t0", "$T0": "t0", "r8": "t0", "other": "other", "t1": "", "nothing": ""} {
		slot, numbers := e.Named(trace, name)
		got := ""
		for _, n := range numbers {
			got += trace.Names[n]
		}
		if isRegister := name != "other" && name != "nothing"; got != want || (slot != nil) != isRegister {
			t.Errorf("%s: %q, want %q; slot %v", name, got, want, slot)
		}
	}
}

// TestDialect: the index that is kept beside a trace tells the dialect, as long as the trace is the same.
func TestDialect(t *testing.T) {
	var content bytes.Buffer
	if _, err := generate.Write(&content, generate.Options{Instructions: 210_000}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.log")
	source := func() execution.Source {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		status, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return execution.Source{Name: path, Content: f, Size: status.Size(), Path: path, Status: status}
	}
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := source().Dialect(); got != "" {
		t.Errorf("without an index the dialect is %q", got)
	}
	d := matcher.Dialect
	e, _, err := execution.Open(source(), d, execution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := source().Dialect(); got != d.Name {
		t.Errorf("the dialect is %q", got)
	}
	if err := os.WriteFile(path, append(content.Bytes(), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := source().Dialect(); got != "" {
		t.Errorf("of a trace that has changed the dialect is %q", got)
	}
}
