package record

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/figures"
)

// TestRecordMisuse: what is wrong with a command line is said in a sentence, and nothing is run.
func TestRecordMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"":                                "record needs a program to launch, or --pid, --comm, or --to (see tracewell record --help)",
		"--at f":                          "record needs a program to launch, or --pid, --comm, or --to (see tracewell record --help)",
		"--pid 1 --at f -- ./a":           "--pid and --comm are for processes that run: a program can't be launched as well (see tracewell record --help)",
		"--pid=-1 --at f":                 `--pid: "-1" is no number of a process (see tracewell record --help)`,
		"-p 1,x --at f":                   `--pid: "1,x" is no number of a process (see tracewell record --help)`,
		"--sync --at f ./a":               "--sync says when a line is printed: it needs --print or --format (see tracewell record --help)",
		"--print -o - --at f ./a":         "with -o - standard output is for the trace file: nothing else can be printed there (see tracewell record --help)",
		"--print --note n --at f ./a":     "--print, --stacks and figures need no file: --buffer, --circular, --note and --user go with one, by -o (see tracewell record --help)",
		"--pid x --at f":                  `--pid: "x" is no number of a process (see tracewell record --help)`,
		"--frames 0 --at f ./a":           `--frames: "0" is no number of 1 or more (see tracewell record --help)`,
		"--frames -1 --at f ./a":          `--frames: "-1" is no number of 1 or more (see tracewell record --help)`,
		"--list":                          "--list needs a value: --list PATTERN (see tracewell record --help)",
		"--list --json ./a":               "--list needs a value: --list PATTERN, and --json is an option (see tracewell record --help)",
		"-z":                              "unknown flag -z (see tracewell record --help)",
		"--print=3":                       `--print takes no value, and "3" is one (see tracewell record --help)`,
		"--buffer -5 --at f ./a":          `--buffer: "-5" is no size, such as 64M or 1G (see tracewell record --help)`,
		"-o":                              "--output needs a value: --output FILE (see tracewell record --help)",
		"--pid 1 --remote :1":             "--pid and --comm are for processes of this machine, and --to for one behind a stub (see tracewell record --help)",
		"--remote :1 ./a b":               "with --to the program runs already: it takes no arguments, only the name of its file (see tracewell record --help)",
		"--remote :1 --follow":            "--follow can't be used together with --to (see tracewell record --help)",
		"--fetch --remote :1 --dry-run":   "--dry-run and --explain are for a run that is waited for: they can't be used together with --disconnected and --fetch (see tracewell record --help)",
		"--profile gdbserver --at f ./a":  "--tdesc and --profile are for a stub: they need --to (see tracewell record --help)",
		"--list x --dry-run ./a":          "--list and --dry-run can't be used together (see tracewell record --help)",
		"--list x --at f ./a":             "--list only lists: it can't be used together with options that say what is traced (see tracewell record --help)",
		"--format x --json --at f ./a":    "--format and --json can't be used together (see tracewell record --help)",
		"--print --dry-run --at f ./a":    "--dry-run records nothing that could be printed (see tracewell record --help)",
		"-- ./a":                          "record: there is nothing to trace: give a place by --at, or a --script; --list '*' lists places",
		"--collect x -- ./a":              "record: --collect belongs to a tracepoint: give its place by --at",
		"--at":                            "--at: --at needs a value (see tracewell record --help)",
		"--at --collect x ./a":            "--at: --at needs a value (see tracewell record --help)",
		"--at f --collect a,,b ./a":       "record: --collect: there is no expression here\n  a,,b\n    ^",
		"--script no ./a":                 "record: open no: no such file or directory",
		"--duration x --at f ./a":         `--duration: "x" is no time, such as 10s, 2m or 500ms (see tracewell record --help)`,
		"--duration 0 --at f ./a":         `--duration: "0" is no time, such as 10s, 2m or 500ms (see tracewell record --help)`,
		"--buffer 1T --at f ./a":          `--buffer: "1T" is no size, such as 64M or 1G (see tracewell record --help)`,
		"--buffer 9999999999G --at f ./a": `--buffer: "9999999999G" is no size, such as 64M or 1G (see tracewell record --help)`,
		"--format {x --at f ./a":          "--format: this is not closed\n  {x\n  ^\na brace itself is written {{ (see tracewell record --help)",
		"--at f -o script.gdb --script script.gdb ./a": "script.gdb is read, too: write to another file",
		"--at f ./nothing": "record: cannot run ./nothing: there is no such file",
	} {
		if err := os.WriteFile("script.gdb", []byte("trace f\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		got := clitest.Run(t, append([]string{"record"}, strings.Fields(line)...)...)
		if diff := cmp.Diff(clitest.Outcome{Stderr: "tracewell: " + want + "\n", Status: 2}, got); diff != "" {
			t.Errorf("record %s: (-want +got)\n%s", line, diff)
		}
	}
}

// TestRecordForeign refuses programs of another machine, and files that are no program, in one sentence.
func TestRecordForeign(t *testing.T) {
	folder := t.TempDir()
	var header bytes.Buffer
	err := binary.Write(&header, binary.LittleEndian, elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_S390), Version: uint32(elf.EV_CURRENT), Ehsize: 64, Phentsize: 56, Shentsize: 64,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]struct{ content, want string }{
		"foreign": {header.String(), "it is a program for EM_S390, and only those for x86-64 can be recorded"},
		"text":    {"nothing that could run", "it is no program"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(file.content), 0o755); err != nil {
			t.Fatal(err)
		}
		trace := filepath.Join(folder, "run.tf")
		got := clitest.Run(t, "record", "--at", "push", "-o", trace, "--", path)
		want := clitest.Outcome{Stderr: "tracewell: record: cannot run " + path + ": " + file.want + "\n", Status: 2}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if _, err := os.Stat(trace); err == nil {
			t.Errorf("%s: there is a trace file", name)
		}
	}
}

// scanRecord reads a command line of record.
func scanRecord(t *testing.T, words ...string) (*Command, *kong.Context) {
	t.Helper()
	var c struct {
		Record Command `cmd:""`
	}
	parser, err := kong.New(&c, Variables(), figures.Variables(), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := parser.Parse(append([]string{"record"}, words...))
	if err != nil {
		t.Fatal(err)
	}
	return &c.Record, ctx
}

// TestRecordPlan: the order of options is kept, whatever they are and however their values are given.
func TestRecordPlan(t *testing.T) {
	script := filepath.Join(t.TempDir(), "points.gdb")
	if err := os.WriteFile(script, []byte("trace first\nset trace-notes theirs\nset trace-user them\nset circular-trace-buffer on\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, ctx := scanRecord(t, "--collect", "$rip", "--at=push", "--if", "-n > 3", "--at", "-probe demo:item", "--backtrace",
		"--at", "pop", "--backtrace=64", "--set=$n = $n + 1", "--script", script, "--pass=2", "--note", "mine", "--", "./server", "--at", "x")
	p, err := c.plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := `set trace-notes mine
set trace-user them
set circular-trace-buffer on
set trace-buffer-size 67108864
tvariable $n
trace first
trace push
  condition $bpnum -n > 3
  commands
    collect $rip
  end
trace -probe demo:item
  commands
    collect $rip
    collect $pc, $sp, $fp
    collect *(unsigned char *)($sp-128)@128, *(unsigned char *)$sp@8192
  end
trace pop
  passcount 2
  commands
    collect $rip
    collect $pc, $sp, $fp
    collect *(unsigned char *)($sp-128)@128, *(unsigned char *)$sp@64
    teval $n = $n + 1
  end
`
	if diff := cmp.Diff(want, p.Script()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"./server", "--at", "x"}, c.command()); diff != "" {
		t.Errorf("the program: (-want +got)\n%s", diff)
	}
}

// TestRecordOutput: without a name the trace file is called after the program, and none is written over.
func TestRecordOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	c, _ := scanRecord(t, "--at", "f", "/usr/bin/server")
	for _, want := range []string{"server.tf", "server.2.tf", "server.3.tf"} {
		got, err := c.output(console.Streams{})
		if err != nil || got.String() != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		if err := os.WriteFile(want, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
