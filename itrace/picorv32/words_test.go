package picorv32

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
)

// program writes an ELF file with code at an address, and returns the dialect with it.
func program(t testing.TB, at uint32, code []byte) *itrace.Dialect {
	t.Helper()
	const headers = 52 + 32
	var b bytes.Buffer
	header := elf.Header32{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: 1,
		Shentsize: 40}
	copy(header.Ident[:], "\x7fELF\x01\x01\x01")
	prog := elf.Prog32{Type: uint32(elf.PT_LOAD), Off: headers, Vaddr: at, Filesz: uint32(len(code)), Memsz: uint32(len(code)),
		Flags: uint32(elf.PF_X | elf.PF_R)}
	for _, part := range []any{header, prog, code} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "program.elf")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := itrace.Registry{Words}.ByName("picorv32-words:program=" + path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// handled is a program with a handler of interrupts, from 0 on.
func handled(t testing.TB) *itrace.Dialect {
	code := make([]byte, 0x210)
	for at, opcode := range map[int]uint32{0x10: 0x0200a10b, 0x14: 0x0000450b, 0x18: 0x0400000b, 0x100: 0xa0054295, // c.li t0,5; c.j
		0x204: 0x00134188, 0x206: 0x00000013, 0x20a: 0x00000013} { // c.lw a0,0(a1)
		binary.LittleEndian.PutUint32(code[at:], opcode)
	}
	return program(t, 0, code)
}

const words = `000000001
100000100
000000005
100000200
8000000204
800000204
80000x204
900000204
200001000
0ffffff80
000000001
000000002
000000003
100000100
200000001
000000001
`

// TestWords says what words are with their program.
func TestWords(t *testing.T) {
	d := handled(t)
	dialecttest.Run(t, d, words)
	dialecttest.Run(t, Words, words)
	const (
		tells            = `"tells":"opcode registers loads load-data stores store-data all-writes events"}`
		instruction      = `{"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x`
		memory, register = `{"kind":"memory","time":0,"cpu":0,"access":`, `{"kind":"register","time":0,"cpu":0,"name":`
	)
	want := []string{
		`1 {"remark":"000000001"}`, `2 {"remark":"100000100"}`,
		`3 ` + instruction + `00000100","opcode":"0x4295",` + tells, `3 ` + register + `"x5","value":"0x00000005"}`,
		`4 ` + instruction + `00000102","opcode":"0xa005",` + tells,
		`5 {"unknown":"8000000204"} column 1: found "8000000204", expected nine hexadecimal digits`,
		`6 {"kind":"event","time":0,"cpu":0,"event":"interrupt","name":"IRQ"}`,
		`6 ` + instruction + `00000010","opcode":"0x0200a10b",` + tells, `6 ` + register + `"q2","value":"0x00000204"}`,
		`7 ` + instruction + `00000014","opcode":"0x0000450b",` + tells, `7 ` + register + `"x10","value":"0x0000x204"}`,
		`8 ` + instruction + `00000018","opcode":"0x0400000b",` + tells,
		`9 ` + instruction + `00000204","opcode":"0x4188",` + tells,
		`9 ` + memory + `"read","size":4,"address":"0x00001000","data":"0xffffff80"}`, `10 ` + register + `"x10","value":"0xffffff80"}`,
		`11 ` + instruction + `00000206","opcode":"0x00000013",` + tells,
		`12 ` + instruction + `0000020a","opcode":"0x00000013",` + tells,
		`13 ` + instruction + `0000020e","opcode":"0x0000",` + strings.Replace(tells, "registers ", "", 1),
		`14 {"kind":"instruction","time":0,"cpu":0,"id":0,"address":"0x00000210","tells":"all-writes events gaps"}`,
		`15 ` + instruction + `00000100","opcode":"0x4295",` + tells,
		`15 {"unknown":"200000001"} column 1: found "200000001", expected another word, as the instruction is no load and no store`,
		`16 {"remark":"000000001"}`,
	}
	if diff := cmp.Diff(want, dialecttest.Lines(t, d, words)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoProgram: without a program no word can be read, and no trace is taken for one of words. A file that is none is an error where it is named.
func TestNoProgram(t *testing.T) {
	if got, n := dialecttest.Problem(t, Words, "180000080\n"); n != 1 ||
		got != `column 1: found "180000080", expected the option program, as words do not tell where they are from` {
		t.Errorf("without a program: %s", got)
	}
	if d := (itrace.Registry{Words}).Detect([]byte(words)); d.Dialect != nil {
		t.Errorf("detected: %+v", d)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, path := range []string{"", none, "words_test.go"} {
		if _, err := (itrace.Registry{Words}).ByName("picorv32-words:program=" + path); err == nil {
			t.Errorf("%q is taken for a program", path)
		}
	}
}

func TestWordAllocations(t *testing.T) { dialecttest.Allocations(t, handled(t), words[10*12:13*10]) }

func FuzzWords(f *testing.F) { dialecttest.Fuzz(f, handled(f), words, words[:100]) }

func BenchmarkReadWords(b *testing.B) { dialecttest.Benchmark(b, handled(b), words[10:40]) }
