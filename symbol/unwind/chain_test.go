package unwind

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
	"tracewell/symbol"
	"tracewell/tdesc/machine"
)

// TestFramePointers follows the chain of frame pointers through code that has no CFI, as far as it is plausible.
func TestFramePointers(t *testing.T) {
	folder := t.TempDir()
	source, path := filepath.Join(folder, "bare.s"), filepath.Join(folder, "bare")
	const code = ".globl _start\n_start: .skip 64\n.size _start,.-_start\n.section .note.GNU-stack\n"
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := testtool.Command(t, "gcc", "-nostdlib", "-static", "-no-pie", source, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	program, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	layout, err := machine.Linux(arch.AMD64).Layout()
	if err != nil {
		t.Fatal(err)
	}
	begin := program.Main().Entry()
	for name, test := range map[string]struct {
		pointer arch.Addr
		words   map[arch.Addr]arch.Addr // on the stack, whose pointer is stackBase
		want    string
	}{
		"a chain":           {stackBase + 16, map[arch.Addr]arch.Addr{16: stackBase + 48, 24: begin + 8, 48: 0, 56: begin + 32}, "8 true 32 true"},
		"cut off":           {stackBase + 16, map[arch.Addr]arch.Addr{16: stackBase + 4096, 24: begin + 8}, "8 true"},
		"below the stack":   {stackBase - 16, nil, ""},
		"not aligned":       {stackBase + 17, nil, ""},
		"not further up":    {stackBase + 16, map[arch.Addr]arch.Addr{16: stackBase + 16, 24: begin + 8}, ""},
		"to no code":        {stackBase + 16, map[arch.Addr]arch.Addr{16: stackBase + 48, 24: begin + 4096}, ""},
		"no return address": {stackBase + 16, map[arch.Addr]arch.Addr{16: stackBase + 48}, ""},
	} {
		stack := make(memory, 128)
		for at, word := range test.words {
			arch.PutAddr(stack[at:at+8], arch.AMD64.Order, word)
		}
		registers := make([]byte, layout.Size)
		for name, value := range map[string]arch.Addr{arch.AMD64.SP: stackBase, arch.AMD64.FP: test.pointer} {
			slot := layout.ByName(name)
			arch.PutAddr(registers[slot.Offset:slot.Offset+slot.Size], arch.AMD64.Order, value)
		}
		frames, err := New(program, layout).Stack(begin, registers, stack)
		got := ""
		for _, f := range frames[1:] {
			got += fmt.Sprintf(" %d %v", f.PC-begin, f.Guessed)
		}
		if got != "" {
			got = got[1:]
		}
		if got != test.want || err == nil || errors.Is(err, ErrOutermost) {
			t.Errorf("%s: callers %q, want %q; %v", name, got, test.want, err)
		}
	}
}
