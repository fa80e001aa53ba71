package asm

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"tracewell/internal/test/testtool"
)

// assembled is all forms, one behind the other, with the offset of each.
func assembled(t *testing.T) (list []form, offsets []int, code []byte) {
	t.Helper()
	a := New(testOrg)
	for f := range forms() {
		list, offsets = append(list, f), append(offsets, a.Len())
		f.emit(a)
	}
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return list, append(offsets, len(code)), code
}

// asXArch is what x/arch should write.
func (f form) asXArch() string {
	var operands []string
	for _, o := range f.operands {
		operands = append(operands, o.xarch)
	}
	name := f.name
	if other, ok := otherNames[name]; ok {
		name = other
	}
	for _, w := range widths {
		letter := map[Width]string{1: "b", 2: "w", 4: "d", 8: "q"}[w]
		if strings.HasPrefix(name, "rep ") && strings.HasPrefix(operands[0], units[w]) {
			name += letter
			break
		}
	}
	if f.name == "rep stos" {
		operands = operands[:1]
	}
	return strings.TrimSpace(name + " " + strings.Join(operands, ","))
}

// otherNames are those of x/arch where objdump has others.
var otherNames = func() map[string]string {
	names := map[string]string{"pushf": "pushfq", "popf": "popfq", "movabs": "mov"}
	for ours, theirs := range map[string]string{"ae": "nb", "e": "z", "ne": "nz", "a": "nbe", "ge": "nl", "g": "nle"} {
		for _, stem := range []string{"j", "set", "cmov"} {
			names[stem+ours] = stem + theirs
		}
	}
	return names
}()

// asObjdump is what objdump should write.
func (f form) asObjdump() string {
	var operands []string
	for _, o := range f.operands {
		operands = append(operands, o.objdump)
	}
	return strings.TrimSpace(f.name + " " + strings.Join(operands, ","))
}

// isNop reports whether a form is one of those whose operands do not matter, and a text is of such.
func isNop(f form, text string) bool {
	return f.name == "nop" && len(f.operands) > 0 && (strings.Contains(text, "nop") || text == "xchg ax,ax")
}

// TestAsXArch compares all forms with what the decoder of the Go project makes of them.
func TestAsXArch(t *testing.T) {
	list, offsets, code := assembled(t)
	compared, failed := 0, map[string]int{}
	for i, f := range list {
		if f.vectors {
			continue
		}
		at, end := offsets[i], offsets[i+1]
		want, got := f.asXArch(), decode(code[at:], uint64(testOrg+at), end-at)
		if got != want && !isNop(f, got) {
			if failed[f.name]++; failed[f.name] < 3 {
				t.Errorf("% x: x/arch has %q, want %q", code[at:end], got, want)
			}
		}
		compared++
	}
	t.Logf("%d encodings of %d", compared, len(list))
	if compared < 250_000 {
		t.Error("too few")
	}
}

// decode is what x/arch makes of an instruction that has a length.
func decode(code []byte, pc uint64, length int) string {
	in, err := x86asm.Decode(code, 64)
	if err != nil {
		return err.Error()
	}
	if in.Len != length {
		return fmt.Sprintf("%v, %d bytes of %d", in, in.Len, length)
	}
	text := strings.ReplaceAll(strings.ToLower(x86asm.IntelSyntax(in, pc, nil)), ", ", ",")
	text = ripRelative.ReplaceAllStringFunc(text, func(operand string) string {
		d, _ := strconv.ParseInt(strings.TrimPrefix(strings.Trim(operand, "[]"), "rip"), 0, 64)
		return fmt.Sprintf("[rip:%#x]", pc+uint64(length)+uint64(d))
	})
	return unsigned.ReplaceAllStringFunc(text, func(d string) string {
		v, _ := strconv.ParseUint(d[1:], 0, 64)
		return hexOf(int64(int32(v)))
	})
}

// unsigned is a negative displacement of 32 bits as x/arch writes it.
var unsigned = regexp.MustCompile(`\+0x[89a-f][0-9a-f]{7}\b`)

var ripRelative = regexp.MustCompile(`\[rip[-+]0x[0-9a-f]+\]`)

// TestAsObjdump compares all forms with what objdump makes of them.
func TestAsObjdump(t *testing.T) {
	list, offsets, code := assembled(t)
	lines := disassemble(t, code)
	if len(lines) != len(list) {
		t.Errorf("objdump has %d instructions of %d", len(lines), len(list))
	}
	failed := map[string]int{}
	for i, line := range lines {
		if line.at != testOrg+offsets[i] {
			t.Fatalf("%#x: %s: want %s at %#x", line.at, line.text, list[i].asObjdump(), testOrg+offsets[i])
		}
		if want := list[i].asObjdump(); line.text != want && !isNop(list[i], line.text) {
			if failed[list[i].name]++; failed[list[i].name] < 3 {
				t.Errorf("% x: objdump has %q, want %q", code[offsets[i]:offsets[i+1]], line.text, want)
			}
		}
	}
	t.Logf("%d encodings", len(lines))
}

// line is an instruction as objdump has it.
type line struct {
	at   int
	text string // as forms write it
}

// disassemble has objdump disassemble code at testOrg.
func disassemble(t *testing.T, code []byte) (list []line) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := testtool.Command(t, "objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn",
		fmt.Sprintf("--adjust-vma=%#x", testOrg), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() { // "  400000:\tmov    al,BYTE PTR [rip+0x1234]        # 0x401240"
		at, text, _ := strings.Cut(lines.Text(), ":\t")
		addr, err := strconv.ParseInt(strings.TrimSpace(at), 16, 64)
		if err != nil || text == "" {
			continue
		}
		text, target, found := strings.Cut(text, "#")
		text = strings.ToLower(strings.Join(strings.Fields(text), " "))
		if found {
			text = ripRelative.ReplaceAllString(text, "[rip:"+strings.TrimSpace(target)+"]")
		}
		list = append(list, line{int(addr), text})
	}
	return list
}
