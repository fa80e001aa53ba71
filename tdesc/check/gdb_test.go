package check

import (
	"context"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testtool"
	"tracewell/tdesc"
)

// sizes are the bits of registers whose size GDB 13 looks at; others have 64, or 32 on the architectures that are here.
var sizes = map[string]int{"i386": 32, "Arm": 32, "SPARC": 32, "Motorola 68000": 32}

// trial is a description that GDB is to judge.
type trial struct {
	name   string
	doc    string
	accept bool
}

// describe makes a description of features, without the registers that are left out.
func describe(f *family, architecture string, features []*feature, without map[string]bool) string {
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
			if !without[w.names[0]] {
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
var built = map[string][]string{
	"AArch64": {"aarch64"}, "Arm": {"arm"}, "x86-64": {"i386:x86-64"}, "i386": {"i386"}, "MIPS": {"mips:isa64r2"},
	"Motorola 68000": {"m68k"}, "PowerPC": {"powerpc:common64"}, "RISC-V": {"riscv:rv64"}, "s390": {"s390:64-bit", "s390:31-bit"},
	"SPARC, 64 bits": {"sparc:v9"}, "SPARC": {"sparc"},
}

// TestGDBWantsTheRegisters leaves out one register after the other.
func TestGDBWantsTheRegisters(t *testing.T) {
	var trials []trial
	for i := range families {
		f := &families[i]
		for _, architecture := range built[f.name] {
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

// TestGDBWantsSubsets leaves out any features and registers, and has GDB judge what is said of the rest.
func TestGDBWantsSubsets(t *testing.T) {
	const each = 40
	r := rand.New(rand.NewPCG(13, 2))
	var trials []trial
	accepted := 0
	for i := range families {
		f := &families[i]
		for _, architecture := range built[f.name] {
			for n := range each {
				doc := resized(r, f.subset(r, architecture))
				report := Document([]byte(doc), tdesc.Options{})
				accept := report.Worst() < tdesc.Rejects
				if accept {
					accepted++
				}
				trials = append(trials, trial{fmt.Sprintf("%s %d: %v\n%s", architecture, n, report.Findings, doc), doc, accept})
			}
		}
	}
	if accepted < len(trials)/10 || accepted > len(trials)*9/10 {
		t.Errorf("of %d descriptions %d are accepted, which tells little", len(trials), accepted)
	}
	judge(t, trials)
}

// resized gives one register of a description another size.
func resized(r *rand.Rand, doc string) string {
	if r.IntN(3) > 0 {
		return doc
	}
	pieces := strings.Split(doc, "bitsize='")
	if i := r.IntN(len(pieces)); i > 0 {
		_, rest, _ := strings.Cut(pieces[i], "'")
		pieces[i] = strconv.Itoa(8<<r.IntN(5)) + "'" + rest
	}
	return strings.Join(pieces, "bitsize='")
}

// subset is a description with some of the features of a family, and most of their registers.
func (f *family) subset(r *rand.Rand, architecture string) string {
	var chosen []*feature
	for i := range f.features {
		g := &f.features[i]
		required := slices.ContainsFunc(f.required, func(names []string) bool { return names[0] == g.name })
		if g.since <= 13 && (g.instead == "" || g.name == "arm.fpa") && r.IntN(10) < 3 || required && r.IntN(20) > 0 {
			chosen = append(chosen, g)
		}
	}
	without := make(map[string]bool)
	if r.IntN(3) == 0 {
		return describe(f, architecture, chosen, without)
	}
	for _, g := range chosen {
		wants := g.wants()
		if len(wants) == 0 || r.IntN(2) == 0 {
			continue
		}
		from := r.IntN(len(wants))
		for _, w := range wants[from:min(len(wants), from+1+r.IntN(1+r.IntN(20)))] {
			for _, name := range w.names {
				without[name] = true
			}
		}
	}
	return describe(f, architecture, chosen, without)
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
		trials = append(trials, trial{asked.name, describe(f, architecture, with, nil), !asked.crashes})
		for _, w := range asked.wants() {
			name := w.names[0]
			accept := !asked.crashes && (w.need == optional || w.need == valued || w.rival != nil)
			trials = append(trials, trial{asked.name + " without " + name, describe(f, architecture, with, map[string]bool{name: true}), accept})
		}
		for _, other := range asked.excludes {
			more := append(slices.Clone(with), f.feature(other))
			trials = append(trials, trial{asked.name + " with " + other, describe(f, architecture, more, nil), false})
		}
		for _, needed := range asked.requires {
			less := slices.DeleteFunc(slices.Clone(with), func(g *feature) bool { return g.name == needed })
			trials = append(trials, trial{asked.name + " without " + needed, describe(f, architecture, less, nil), false})
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
