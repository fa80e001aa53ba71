package ax

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracewell/arch"
)

// world is an Env of maps, little-endian, that keeps a log of what expressions do to it.
type world struct {
	registers map[arch.Reg]uint64
	memory    map[arch.Addr]byte
	variables map[uint16]int64
	log       []string
}

var errHole = errors.New("no such page")

func (w *world) Register(r arch.Reg) (uint64, error) {
	v, ok := w.registers[r]
	if !ok {
		return 0, errors.New("too wide")
	}
	return v, nil
}

func (w *world) Ref(addr arch.Addr, size int) (uint64, error) {
	var v uint64
	for i := range size {
		b, ok := w.memory[addr+arch.Addr(i)]
		if !ok {
			return 0, errHole
		}
		v |= uint64(b) << (8 * i)
	}
	return v, nil
}

func (w *world) Variable(n uint16) int64 { return w.variables[n] }

func (w *world) SetVariable(n uint16, v int64) {
	w.note("set %d to %d", n, v)
	if _, ok := w.variables[n]; ok {
		w.variables[n] = v
	}
}

func (w *world) TraceVariable(n uint16) { w.note("variable %d is %d", n, w.variables[n]) }

func (w *world) TraceMemory(addr arch.Addr, size uint64) { w.note("memory %v+%d", addr, size) }

func (w *world) TraceString(addr arch.Addr, limit uint64) { w.note("string %v+%d", addr, limit) }

func (w *world) Printf(fn, channel uint64, format string, args []int64) error {
	if strings.HasPrefix(format, "fail") {
		return errors.New("no terminal")
	}
	w.note("printf %d %d %q %d", fn, channel, format, args)
	return nil
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// store puts bytes given in hexadecimal into memory.
func (w *world) store(addr arch.Addr, text string) {
	if w.memory == nil {
		w.memory = make(map[arch.Addr]byte)
	}
	for i, b := range mustHex(text) {
		w.memory[addr+arch.Addr(i)] = b
	}
}

// mustHex decodes hexadecimal with blanks in it.
func mustHex(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// mustAssemble decodes the text form, in which semicolons may stand for line ends.
func mustAssemble(t testing.TB, text string) *Program {
	t.Helper()
	code, err := Assemble(strings.ReplaceAll(text, ";", "\n"))
	if err != nil {
		t.Fatalf("Assemble(%q): %v", text, err)
	}
	p, err := Decode(code)
	if err != nil {
		t.Fatalf("Decode(% x), assembled of %q: %v", code, text, err)
	}
	return p
}
