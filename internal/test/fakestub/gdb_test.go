package fakestub

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// script debugs the program as users do. Numbers in it are of passes and harts, so that what GDB prints is the same at every stub,
// however the harts take turns.
const script = `
set osabi none
set architecture riscv:rv64
file %s
target remote %s
-- hit --
break *work
continue
p $pc == work && $a1 == 2 * $a0 + $tp
p *(unsigned long *) $gp == $a0 - 1
continue
p $pc == work && $a1 == 2 * $a0 + $tp
-- step --
set $a = $a0
stepi
p (long) $pc - (long) work
stepi 2
p (long) $pc - (long) work
p *(unsigned long *) $sp == $a
-- write --
set var *(int *) 0x80080000 = 0x12345678
p/x *(int *) 0x80080000
set $t6 = 77
p $t6
-- condition --
delete
break *stored if $a0 == 20
continue
p $a0
-- threads --
info threads
`

// TestFiles has stock GDB write what the program has to say, and go on from where that was.
func TestFiles(t *testing.T) {
	s := New(Config{Quirks: Quirks{FilesEach: 2}, InRAM: true})
	file := filepath.Join(t.TempDir(), "program.elf")
	if err := os.WriteFile(file, s.ELF(), 0o600); err != nil {
		t.Fatal(err)
	}
	out := gdbtest.RunMultiarch(t, fmt.Sprintf("set osabi none\nset architecture riscv:rv64\nfile %s\ntarget remote %s\n"+
		"break *work\ncontinue\ncontinue\ncontinue\np $a0\ndetach\n", file, s.Listen(t)))
	answers := s.Answers()
	if n := strings.Count(out.All, FileText); n < 2 || n != len(answers) || !strings.Contains(out.All, "$1 = 3") {
		t.Errorf("%d texts, answers %q:\n%s", n, answers, out.All)
	}
}

// TestGDB has stock GDB debug the machine through each of the known stubs.
func TestGDB(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(Presets)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Config{Quirks: Presets[name], InRAM: true, Harts: 2}
			if config.Quirks.NoThreads {
				config.Harts = 1
			}
			s := New(config)
			file := filepath.Join(t.TempDir(), "program.elf")
			if err := os.WriteFile(file, s.ELF(), 0o600); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(script, file, s.Listen(t))
			if config.Quirks.Hardware != None {
				text += "-- hardware --\ndelete\nhbreak *inner\ncontinue\np $pc == inner\n"
			}
			if config.Quirks.Watchpoints != None {
				text += "-- watch --\ndelete\nwatch *(unsigned long *) 0x80010000\ncontinue\ndelete\n"
			}
			text += "-- detach --\ndelete\ndetach\n"
			out := gdbtest.RunMultiarch(t, text)
			for section, wants := range map[string][]string{
				"hit":       {`(?s)Breakpoint 1, .*\$1 = 1\n.*\$2 = 1\n.*Breakpoint 1, .*\$3 = 1`},
				"step":      {`(?s)\$4 = 2\n.*\$5 = 6\n\$6 = 1`},
				"write":     {`\$7 = 0x12345678\n\$8 = 77`},
				"condition": {`(?s)Breakpoint 2, .*in work.*\n\$9 = 20`},
				"hardware":  {`(?s)Breakpoint 3, .*in work.*\$10 = 1`},
				"watch":     {`(?s)Hardware watchpoint [34]: .*Old value = \d+\nNew value = \d+`},
				"detach":    {`(?s)\[Inferior 1 .*detached\]`},
			} {
				if !strings.Contains(text, "-- "+section+" --") {
					continue
				}
				got := out.Section(t, section)
				for _, want := range wants {
					if !regexp.MustCompile(want).MatchString(got) {
						t.Errorf("no %s in section %s of:\n%s", want, section, out.All)
					}
				}
			}
			if threads := strings.Count(out.Section(t, "threads"), "Thread "); config.Harts > 1 && threads != config.Harts {
				t.Errorf("%d threads:\n%s", threads, out.Section(t, "threads"))
			}
			if left := s.Inserted(); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
			if b := s.Breaches(); len(b) > 0 {
				t.Errorf("breaches: %v", b)
			}
			if config.Quirks.Conditions == Obeyed && !strings.Contains(strings.Join(s.Transcript(), "\n"), ";X") {
				t.Error("GDB has sent no condition")
			}
		})
	}
}
