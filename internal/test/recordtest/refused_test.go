//go:build linux && amd64

package recordtest

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// TestReturnsRefused: whoever asks for returns that cannot be recorded is told why, before the program runs.
func TestReturnsRefused(t *testing.T) {
	program := compiled(t, "refused.c", []string{"gcc", "-g", "-O2"})
	for _, test := range []struct {
		options []string
		reason  string
	}{
		{[]string{"--return=copied"}, "this copy was inlined: it has no return instruction"},
		{[]string{"--return=*copied"}, "no code of function copied: every call of it was inlined, and each copy has an address of its own"},
		{[]string{"--return=copied+2"}, "no code of function copied: every call of it was inlined, and each copy has an address of its own"},
		{[]string{"--return=folded"}, "no code of function folded: every call of it was inlined, and the compiler has left no code"},
		{[]string{"--return=refused.c:folded"}, "no code of function folded in refused.c: every call of it was inlined"},
		{[]string{"--return=ends"}, "ends never returns: it has no return instruction"},
		{[]string{"--return=computed"}, "computed has no return instruction, and each of its jumps elsewhere may lead to another function or not"},
		{[]string{"--return=chosen"}, "this function only chooses the one that is called (IFUNC)"},
		{[]string{"--return=mixed"}, "the returns of mixed cannot be told with certainty: there is no instruction known at"},
		{[]string{"--return=into"}, "the returns of into cannot be told with certainty: a branch leads to"},
		{[]string{"--return=endless"}, "where endless ends is not known: its symbol has no size"},
		{[]string{"--return=absent"}, "no function absent"},
		{[]string{"--return"}, "the returns of which function? Give it as --return=FUNCTION, or by --at in front of this"},
		{[]string{"--at", "user", "--return", "--return"}, "there is a --return already"},
		{[]string{"--return=user", "--bare"}, "--return pairs the frames of a call by $tid, which --bare leaves out"},
		{[]string{"--return=user", "--if", "$took > 3"}, "$took: it is known only when frames are read, not at a hit"},
		{[]string{"--at", "user", "--collect", "$return"}, "$return has a value only where the function returns (--return)"},
	} {
		args := slices.Concat([]string{"record", "-q", "-o", t.TempDir() + "/run.tf"}, test.options, []string{"--", program})
		command := exec.CommandContext(t.Context(), gdbtest.Binary(t), args...)
		var said strings.Builder
		command.Stderr = &said
		out, err := command.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(out) > 0 || !strings.Contains(said.String(), test.reason) {
			t.Errorf("%q: %v, the program printed %q, the reason is\n%s", test.options, err, out, said.String())
		}
	}
}

// TestTailCalls: where a jump leaves the function for another one, the frame says in place of the value why it has none; elsewhere
// it has the value. The program's source tells which is which.
func TestTailCalls(t *testing.T) {
	builds := [][]string{{"gcc", "-g", "-O2", "-xc"}, {"g++", "-g", "-O2"}}
	if *whole {
		builds = append(builds, []string{"clang", "-g", "-O2", "-xc"}, []string{"clang", "-g", "-O2", "-xc++"})
	}
	const reason = "<tail call: another function returns in place of this one>"
	for _, build := range builds {
		t.Run(strings.Join(build, " "), func(t *testing.T) {
			program := compiled(t, "tails.cc", build)
			functions := []string{"always", "odd", "pointed", "nothing"}
			values, frames, _ := recordReturns(t, program, functions)
			var want []string
			for i := range 4 {
				want = append(want, "always = "+reason)
				if i%2 == 1 {
					want = append(want, "odd = "+reason)
				} else {
					want = append(want, "odd = "+string(rune('0'+i)))
				}
				want = append(want, "pointed = "+reason, "always = "+reason)
			}
			slices.Sort(want)
			slices.Sort(values)
			compareLines(t, want, values)
			tails := 0
			for _, frame := range frames {
				value, some := frame.Collected["$return"]
				took, timed := frame.Collected["$took"].(float64)
				switch function, returns := strings.CutSuffix(frame.Source, " returns"); {
				case !returns && (some || timed):
					t.Errorf("an entry has %v", frame.Collected)
				case !returns:
				case !timed || took < 0 || function == "nothing" && some:
					t.Errorf("a return of %s has %v", function, frame.Collected)
				case value == reason:
					tails++
				}
			}
			if tails != 14 {
				t.Errorf("%d frames of tail calls have the reason in JSON, not 14", tails)
			}
		})
	}
}
