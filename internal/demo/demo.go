// Package demo carries the program that "tracewell demo" traces, so that the demonstration needs neither a compiler nor
// GDB on the machine: a static x86-64 Linux executable without a C library, and its source.
//
// The script build in this folder makes program.elf from src/demo.c; the project's checks build it again and compare the
// bytes. Addresses are looked up in the executable and never written down in Go. The package runs nothing and writes no file.
package demo

import (
	"bytes"
	"debug/elf"
	_ "embed"
	"fmt"

	"tracewell/arch"
)

//go:generate ./build

var (
	//go:embed program.elf
	program []byte
	//go:embed src/demo.c
	source string
)

// SourceName is the name of the source as the program's line table has it: "demo.c:72" is a location that GDB finds.
const SourceName = "demo.c"

// Names of what is worth tracing in the program; Lookup knows where each is.
const (
	// Handle is the function that does one job: unsigned handle(struct queue *q, struct job *job). At its first
	// instruction the two pointers are in rdi and rsi.
	Handle = "handle"
	// Queue is the global struct queue. Its first field is the depth, the number of jobs that wait, 8 bytes.
	Queue = "queue"
	// Handled is the global array of four 8-byte counters, jobs done by kind.
	Handled = "handled"
	// Checksum is the global 8-byte checksum over all jobs.
	Checksum = "checksum"
)

// JobSize is the size in bytes of struct job: four 32-bit numbers, id, kind, size and checksum.
const JobSize = 16

// Program returns a copy of the executable.
func Program() []byte { return bytes.Clone(program) }

// Source returns the text of the program's source.
func Source() string { return source }

// Symbol is a function or object of the program. The program is linked to run where it is, so that Addr holds at run time.
type Symbol struct {
	Name string
	Addr arch.Addr
	Size uint64 // bytes
}

// Lookup finds a function or object by its name in the program's symbol table.
func Lookup(name string) (Symbol, error) {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return Symbol{}, fmt.Errorf("demo program: %w", err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		return Symbol{}, fmt.Errorf("demo program: %w", err)
	}
	for _, s := range symbols {
		if kind := elf.ST_TYPE(s.Info); s.Name == name && (kind == elf.STT_FUNC || kind == elf.STT_OBJECT) {
			return Symbol{Name: name, Addr: arch.Addr(s.Value), Size: s.Size}, nil
		}
	}
	return Symbol{}, fmt.Errorf("demo program: no function or object %q in its symbol table", name)
}
