package firmware

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// TestKernel boots a kernel, and stops it with stock GDB at a function that its only process calls with one number after the other.
func TestKernel(t *testing.T) {
	if !*whole {
		t.Skip("boots a kernel, which may have to be downloaded: with -whole")
	}
	m := StartKernel(t)
	output := gdbtest.RunMultiarch(t, fmt.Sprintf(`
		file %s
		target remote %s
		break *__x64_sys_umask
		continue
		set $first = ((long *) $rdi)[14]
		continue
		continue
		-- third --
		printf "%%ld %%d\n", $first, ((long *) $rdi)[14] - $first
		info symbol $pc
		-- rest --
		detach
	`, m.Program.Path, m.Addr))
	var first, distance int
	section := output.Section(t, "third")
	if _, err := fmt.Sscanf(section, "%d %d", &first, &distance); err != nil || distance != 2 || !strings.Contains(section, "sys_umask in section .text") {
		t.Errorf("the third stop has %q, %v; want the argument of the first one + 2", section, err)
	}
	if calls := m.Calls(t); calls <= first+2 {
		t.Errorf("GDB has seen umask(%d), and %d calls have returned", first+2, calls)
	}
}

// TestKallsyms makes an executable of a few symbols, and reads it by the standard library.
func TestKallsyms(t *testing.T) {
	k, err := parseKallsyms([]byte(`0000000000001000 A cpu_debug_store
ffffffff81000000 T _stext
ffffffff81000000 T startup_64
ffffffff81000140 t sev_verify
ffffffff81000200 T _etext
ffffffff81000210 r a_constant
ffffffff82000000 D a_variable
ffffffff82000100 B _end
ffffffffc0000000 t in_module	[module]
`))
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 0x200)
	text[5] = 0x90
	file, err := elf.NewFile(strings.NewReader(string(k.executable(text))))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range symbols {
		fmt.Fprintf(&got, "%s %#x %#x %v %s\n", s.Name, s.Value, s.Size, elf.ST_TYPE(s.Info), file.Sections[s.Section].Name)
	}
	const want = `a_constant 0xffffffff81000210 0xfffdf0 STT_OBJECT .data
sev_verify 0xffffffff81000140 0xc0 STT_FUNC .text
a_variable 0xffffffff82000000 0x100 STT_OBJECT .data
_etext 0xffffffff81000200 0x10 STT_OBJECT .data
startup_64 0xffffffff81000000 0x140 STT_FUNC .text
_stext 0xffffffff81000000 0x0 STT_FUNC .text
`
	if got.String() != want {
		t.Errorf("the symbols are\n%swant\n%s", &got, want)
	}
	content, err := file.Section(".text").Data()
	if err != nil || len(content) != len(text) || content[5] != 0x90 {
		t.Errorf("the text has %d bytes, %v", len(content), err)
	}
	for _, bad := range []string{"", "x T _stext\n", "ffffffff81000000 T _stext\n"} {
		if _, err := parseKallsyms([]byte(bad)); err == nil {
			t.Errorf("%q should not do", bad)
		}
	}
}
