//go:build linux

package match

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/itrace/match"
	"tracewell/itrace/match/profile"
)

// TestProfileIsItsOptions: a profile does what the options do that are printed for it, and its name is in every report.
func TestProfileIsItsOptions(t *testing.T) {
	t.Chdir(traceFolder(t))
	list := clitest.Run(t, "match", "--profile", "help").Stdout
	for i := range profile.All {
		p := &profile.All[i]
		words := strings.Join(p.Words(), " ")
		if !strings.Contains(list, p.Name+" ") || !strings.Contains(list, words+"\n") || !strings.Contains(list, p.Help+"\n") {
			t.Errorf("%s is not in the list", p.Name)
		}
		got := matched(t, "ref", "dut", "--profile", p.Name)
		want := matched(t, append([]string{"ref", "dut"}, p.Words()...)...)
		if len(got) != 1 || len(want) != 1 || got[0].Profile != p.Name || want[0].Profile != "" {
			t.Fatalf("%s: %+v", p.Name, got)
		}
		if diff := cmp.Diff(want[0].Rules, got[0].Rules) + cmp.Diff(want[0].Counts, got[0].Counts); diff != "" {
			t.Errorf("%s is not %s (-want +got):\n%s", p.Name, words, diff)
		}
		for _, files := range [][]string{{"ref", "same"}, {"ref", "dut"}} {
			text := clitest.Run(t, slices.Concat([]string{"match"}, files, []string{"--profile", p.Name, "--junit", "out.xml", "--html", "out.html"})...)
			for form, report := range map[string]string{"text": text.Stdout, "JUnit": clitest.Content(t, "out.xml"), "HTML": clitest.Content(t, "out.html")} {
				if !strings.Contains(report, p.Name) || !strings.Contains(report, "profile") {
					t.Errorf("%s of %v lacks the profile %s: %q", form, files, p.Name, report)
				}
			}
		}
	}
}

// TestOptionsWin: what the command line says itself goes ahead of a profile.
func TestOptionsWin(t *testing.T) {
	t.Chdir(traceFolder(t))
	const counters, starts = "--rule counters", "--start-addr"
	for _, test := range []struct {
		args          string
		has, hasNot   string
		alsoOfProfile string
	}{
		{"", counters, "", starts},
		{"--rule no-counters", starts, counters, ""},
		{"--rule no-counters --rule counters", counters, "", ""},
		{"--start-addr none", counters, starts, ""},
		{"--start-addr 80000000", starts + " 0x80000000", "", counters},
		{"--boot-size 3", "--boot-size 3", starts, counters},
		{"-w 7", "--window-size 7", "--window-size 1", counters},
		{"--ignore reg:x*", "--ignore reg:x*", "", counters},
	} {
		got := matched(t, append([]string{"ref", "same", "--profile", "riscv-iss"}, strings.Fields(test.args)...)...)
		has := func(rule string) bool {
			return slices.ContainsFunc(got[0].Rules, func(r match.RuleUse) bool { return strings.HasPrefix(r.Rule, rule) })
		}
		if !has(test.has) || test.hasNot != "" && has(test.hasNot) || !has(test.alsoOfProfile) {
			t.Errorf("%s: %+v", test.args, got[0].Rules)
		}
	}
	if got := clitest.Run(t, "match", "ref", "same", "--profile", "spike"); got.Status != 2 || !strings.Contains(got.Stderr, `no profile "spike": there are riscv-iss, `) {
		t.Errorf("no profile: %+v", got)
	}
}
