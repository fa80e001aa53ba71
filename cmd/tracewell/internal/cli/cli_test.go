package cli

import (
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
)

// TestMisuse: a wrong command line says what is wrong, and ends with status 2.
func TestMisuse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string // in the message
	}{
		{[]string{"show", clitest.Basic, "--frame", "abc"}, `--frame: "abc" is no number (see tracewell show --help)`},
		{[]string{"show", clitest.Basic, "-t", "-1"}, "no tracepoint -1"},
		{[]string{"show", clitest.Basic, "-t"}, "--tracepoint needs a value: --tracepoint N (see tracewell show --help)"},
		{[]string{"show", clitest.Basic, "--stats=3"}, `--stats takes no value, and "3" is one (see tracewell show --help)`},
		{[]string{"gen-trace", "--seed", "-1"}, `--seed: "-1" is no number of 0 or more (see tracewell gen-trace --help)`},
		{[]string{"tdesc"}, `one of "check", "layout", "print", "diff" is missing (see tracewell tdesc --help)`},
		{[]string{"show"}, `<file> is missing (see tracewell show --help)`},
		{[]string{"show", clitest.Basic, "more"}, "unexpected argument more (see tracewell show --help)"},
		{[]string{"shwo"}, `did you mean "show"?`},
		{[]string{"show", clitest.Basic, "--fram", "1"}, "unknown flag --fram"},
		{[]string{"show", clitest.Basic, "--frame", "x"}, "--frame: "},
		{[]string{"show", clitest.Basic, "--frame", "85"}, "there is no frame 85: the file has frames 0 to 84"},
		{[]string{"show", clitest.Basic, "--frame=-1"}, "there is no frame -1"},
		{[]string{"show", clitest.Basic, "--frames", "85:"}, "there is no frame 85: the file has frames 0 to 84"},
		{[]string{"show", clitest.Basic, "--frames", "5:4"}, `"5:4" is no range of frames: it ends before it begins`},
		{[]string{"show", clitest.Basic, "--frames", "5"}, `"5" is no range of frames: want A:B, A: or :B`},
		{[]string{"show", clitest.Basic, "--frame", "1", "--frames", "1:2"}, "--frame and --frames can't be used together"},
		{[]string{"show", clitest.Basic, "--count", "--diff"}, "--diff and --count can't be used together"},
		{[]string{"show", clitest.Basic, "--value", "n", "--diff"}, "--value prints figures, and can't be used together with"},
		{[]string{"show", clitest.Basic, "--limit", "1", "--last", "1"}, "--limit and --last can't be used together"},
		{[]string{"show", clitest.Basic, "--limit=-1"}, "--limit: -1 is no number of frames, from 1 on"},
		{[]string{"show", clitest.Basic, "--last", "0"}, "--last: 0 is no number of frames, from 1 on"},
		{[]string{"show", clitest.Basic, "-t", "7"}, "queue-basic.tf: there is no tracepoint 7: the file defines 2, 3 and 4"},
		{[]string{"show", clitest.Basic, "--pc", "push"}, `--pc "push": there are no symbols to look it up in (--exec names the program that has them)`},
		{[]string{"show", clitest.Basic, "--pc", "pish", "--exec", clitest.BasicProgram}, `--pc "pish": the program has no symbol "pish", or more than one`},
		{[]string{"show", clitest.Basic, "--range", "0x20,0x10"}, `--range "0x20,0x10": the range ends at 0x10, before it begins at 0x20`},
		{[]string{"show", clitest.Basic, "--outside", "0x20"}, `--outside "0x20": want LOW,HIGH or a function`},
		{[]string{"show", clitest.Basic, "--where", "n >"}, "--where: found the end, expected a value\n  n >\n     ^"},
		{[]string{"show", clitest.Basic, "--where", "m > 3"}, "--where: there is no m\n  m > 3\n  ^"},
		{[]string{"show", clitest.Basic, "--where", "$ripp"}, "--where: there is no $ripp\n  $ripp\n  ^"},
		{[]string{"show", clitest.Basic, "--value", "n +"}, "--value: found the end, expected a value\n  n +\n     ^"},
		{[]string{"show", clitest.Basic, "-r", "ripp"}, `no register "ripp" in the file's target description`},
		{[]string{"show", clitest.Basic, "--exec", "nowhere"}, "open nowhere: no such file"},
		{[]string{"show", clitest.Basic, "--exec", clitest.Basic}, clitest.Basic + ": reading an ELF file: "},
		{[]string{"show", "nowhere.tf"}, "open nowhere.tf: no such file"},
		{[]string{"show", "testdata"}, "testdata: "},
		{[]string{"show", clitest.BasicProgram}, `not a trace file: offset 0: found "\x7fELF`},
		{[]string{"info"}, `<file> is missing (see tracewell info --help)`},
		{[]string{"info", "/dev/null"}, `/dev/null: not a trace file: offset 0: found "", expected "\x7fTRACE0\n"`},
		{[]string{"demo", "more"}, "unexpected argument more (see tracewell demo --help)"},
		{[]string{"demo", "-o", "no/such/folder.tf"}, "write no/such/folder.tf: "},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got := clitest.Run(t, test.args...)
			if got.Status != console.StatusFailure || got.Stdout != "" && test.args[0] != "demo" {
				t.Errorf("exit status %d, printed %q", got.Status, got.Stdout)
			}
			if !strings.HasPrefix(got.Stderr, "tracewell: ") || !strings.Contains(got.Stderr, test.want) {
				t.Errorf("the message is %q, want %q in it", got.Stderr, test.want)
			}
		})
	}
}

// TestHelpPlatforms: the help and the manual page of each command that traces processes of this machine name the systems on which it
// can, and so does the list of all commands.
func TestHelpPlatforms(t *testing.T) {
	pages := t.TempDir()
	if got := clitest.Run(t, "man", pages); got.Status != console.StatusDone {
		t.Fatalf("%+v", got)
	}
	plain := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, `\-`, "-")), " ") }
	all := plain(clitest.Run(t, "--help").Stdout)
	if n := strings.Count(all, "(Linux x86-64"); n != 5 {
		t.Errorf("%d commands trace processes:\n%s", n, all)
	}
	for _, command := range []string{"serve", "record", "mend", "dap", "demo"} {
		for _, text := range []string{clitest.Run(t, command, "--help").Stdout, clitest.Content(t, pages+"/tracewell-"+command+".1")} {
			if !strings.Contains(plain(text), "(Linux x86-64") {
				t.Errorf("%s: no system in\n%s", command, text)
			}
		}
	}
}

// TestHelp: help is no error, and has the examples first.
func TestHelp(t *testing.T) {
	for _, command := range []string{"serve", "replay", "show", "info", "demo"} {
		got := clitest.Run(t, command, "--help")
		if got.Status != console.StatusDone || !strings.HasPrefix(got.Stdout, "Examples:\n") || !strings.Contains(got.Stdout, "Usage: ") {
			t.Errorf("%s: exit status %d, printed %q", command, got.Status, got.Stdout)
		}
	}
}
