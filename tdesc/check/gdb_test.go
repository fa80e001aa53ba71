package check

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/testtool"
	"tracewell/tdesc"
)

// sizes are the bits of registers whose size GDB 13 looks at; others have 64, or 32 on the architectures that are here.
var sizes = map[string]int{"i386": 32, "Arm": 32, "SPARC": 32, "s390, 31 bits": 32, "Motorola 68000": 32}

// trial is a description that GDB is to judge.
type trial struct {
	name   string
	doc    string
	accept bool
}

// describe makes a description of features, without the register that is left out.
func describe(f *family, architecture string, features []*feature, without string) string {
	bits, ok := sizes[f.name]
	if !ok {
		bits = 64
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<target><architecture>%s</architecture>\n", architecture)
	for _, feature := range features {
		fmt.Fprintf(&b, "<feature name='%s%s'>\n", prefix, feature.name)
		for _, w := range feature.wants() {
			var name strings.Builder
			xml.EscapeText(&name, []byte(w.names[0]))
			if w.names[0] != without {
				fmt.Fprintf(&b, "<reg name='%s' bitsize='%d'/>\n", name.String(), bits)
			}
		}
		b.WriteString("</feature>\n")
	}
	b.WriteString("</target>\n")
	return b.String()
}

// judge asks GDB for all descriptions at once.
func judge(t *testing.T, trials []trial) {
	t.Helper()
	dir := t.TempDir()
	var script strings.Builder
	script.WriteString("set width 0\nset confirm off\nset prompt\nmaintenance set internal-error quit no\nmaintenance set internal-error corefile no\nmaintenance set internal-error backtrace off\n")
	for i, trial := range trials {
		path := filepath.Join(dir, fmt.Sprintf("%d.xml", i))
		if err := os.WriteFile(path, []byte(trial.doc), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&script, "echo @%d@\\n\nset tdesc filename %s\n", i, path)
	}
	script.WriteString("echo @end@\\n\n")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, "gdb-multiarch"), "-nx", "-nh", "-q")
	cmd.Stdin = strings.NewReader(script.String()) // unlike in a script, the next command follows a failing one
	output, err := cmd.CombinedOutput()
	if !strings.HasSuffix(string(output), "@end@\n") {
		t.Fatalf("GDB did not come to the end: %v\n%s", err, output)
	}
	for i, trial := range trials {
		_, rest, _ := strings.Cut(string(output), fmt.Sprintf("@%d@\n", i))
		said, _, _ := strings.Cut(rest, "@")
		accepts := !slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(said, c) })
		if accepts != trial.accept {
			t.Errorf("%s: GDB accepts: %v, the table: %v\n%s", trial.name, accepts, trial.accept, said)
		}
	}
}

// complaints are in what GDB says when it does not take a description.
var complaints = []string{"rejected", "Could not load", "internal-error", "Program contains both"}

// built are the families that Debian's GDB for all architectures is made for, with an architecture of each.
var built = map[string]string{
	"AArch64": "aarch64", "Arm": "arm", "x86-64": "i386:x86-64", "i386": "i386", "MIPS": "mips:isa64r2",
	"Motorola 68000": "m68k", "PowerPC": "powerpc:common64", "RISC-V": "riscv:rv64", "s390, 64 bits": "s390:64-bit",
	"s390, 31 bits": "s390:31-bit", "SPARC, 64 bits": "sparc:v9", "SPARC": "sparc",
}

// TestGDBWantsTheRegisters leaves out one register after the other.
func TestGDBWantsTheRegisters(t *testing.T) {
	var trials []trial
	for i := range families {
		f := &families[i]
		if architecture, ok := built[f.name]; ok {
			trials = append(trials, f.trials(architecture)...)
		}
	}
	judge(t, trials)
	for _, trial := range trials {
		report := Document([]byte(trial.doc), tdesc.Options{})
		if accepts := report.Worst() < tdesc.Rejects; accepts != trial.accept {
			t.Errorf("%s: we accept: %v, want %v: %v", trial.name, accepts, trial.accept, report.Findings)
		}
	}
}

// trials are: the required features alone, each other feature with what it needs, and those without one of their registers.
func (f *family) trials(architecture string) []trial {
	var trials []trial
	for i := range f.features {
		asked := &f.features[i]
		if asked.since > 13 || asked.instead != "" && asked.name != "arm.fpa" {
			continue
		}
		with := f.beside(asked)
		trials = append(trials, trial{asked.name, describe(f, architecture, with, ""), !asked.crashes})
		for _, w := range asked.wants() {
			name := w.names[0]
			accept := !asked.crashes && (w.need == optional || w.need == valued)
			trials = append(trials, trial{asked.name + " without " + name, describe(f, architecture, with, name), accept})
		}
		for _, other := range asked.excludes {
			more := append(slices.Clone(with), f.feature(other))
			trials = append(trials, trial{asked.name + " with " + other, describe(f, architecture, more, ""), false})
		}
		for _, needed := range asked.requires {
			less := slices.DeleteFunc(slices.Clone(with), func(g *feature) bool { return g.name == needed })
			trials = append(trials, trial{asked.name + " without " + needed, describe(f, architecture, less, ""), false})
		}
	}
	return trials
}

// beside is a feature with the required ones and those that it needs.
func (f *family) beside(asked *feature) []*feature {
	var all []*feature
	add := func(name string) {
		if other := f.feature(name); !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	for _, alternatives := range f.required {
		switch {
		case slices.Contains(alternatives, asked.name):
			add(asked.name)
		case slices.Contains(alternatives, asked.useless):
			add(asked.useless)
		default:
			add(alternatives[0])
		}
	}
	var need func(*feature)
	need = func(g *feature) {
		for _, name := range append(slices.Clone(g.requires), g.useless) {
			if name != "" {
				need(f.feature(name))
			}
		}
		add(g.name)
	}
	need(asked)
	return all
}
