package amd64

import (
	"bufio"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
)

// disassembled is one instruction as objdump sees it.
type disassembled struct {
	at   arch.Addr
	code []byte
	text string
}

// objdump disassembles the .text section of a file.
func objdump(t *testing.T, file string) []disassembled {
	t.Helper()
	out, err := testtool.Command(t, "objdump", "-d", "-w", "-j", ".text", file).Output()
	if err != nil {
		t.Fatalf("objdump %s: %v", file, err)
	}
	var list []disassembled
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() { // "  274c4:\te8 97 ff ff ff       \tcall   27460 <abort>"
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 3 {
			continue
		}
		at, err := strconv.ParseUint(strings.Trim(fields[0], " :"), 16, 64)
		if err != nil {
			continue
		}
		code, err := hex.DecodeString(strings.ReplaceAll(fields[1], " ", ""))
		if err != nil {
			t.Fatalf("objdump printed %q", lines.Text())
		}
		list = append(list, disassembled{arch.Addr(at), code, fields[2]})
	}
	return list
}

// libc is a file with a wide choice of instructions, which is on every machine that has gcc.
func libc(t *testing.T) string {
	t.Helper()
	out, err := testtool.Command(t, "gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Fatalf("gcc -print-file-name=libc.so.6: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestLengthAsObjdump compares lengths over libc. What objdump knows may be refused, if rarely; it never gets another
// length.
func TestLengthAsObjdump(t *testing.T) {
	list := objdump(t, libc(t))
	if len(list) < 100_000 {
		t.Fatalf("only %d instructions", len(list))
	}
	var text []byte // the section, so that Decode sees what follows an instruction
	for _, d := range list {
		text = append(text, d.code...)
	}
	refused, emulated, relocatable := map[string]int{}, 0, 0
	for _, d := range list {
		in, err := Decode(text, d.at)
		text = text[len(d.code):]
		switch {
		case len(d.code) > 1 && d.code[0] == 0x9b: // fwait, which objdump joins to what follows
		case err != nil:
			refused[mnemonic(d.text)]++
		case in.Len() != len(d.code):
			t.Errorf("%v: % x %s: length %d", d.at, d.code, d.text, in.Len())
		case in.CanEmulate():
			emulated++
		case in.CanRelocate():
			relocatable++
		}
	}
	total := 0
	for _, n := range refused {
		total += n
	}
	t.Logf("%d instructions: %d emulated, %d more relocatable, %d refused %v",
		len(list), emulated, relocatable, total, refused)
	if total > len(list)/1000 {
		t.Errorf("%d of %d refused, more than one in a thousand", total, len(list))
	}
	if emulated < len(list)*4/10 || emulated+relocatable < len(list)*99/100 {
		t.Errorf("too few emulated or relocatable")
	}
}

// mnemonic is the first word of an instruction's text.
func mnemonic(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
