package inferior

import (
	"debug/elf"
	"fmt"
	"io"
	"slices"

	"tracewell/arch"
	"tracewell/sdt"
)

// linkerFunctions are the names of the empty function that dynamic linkers call around each change of their list: glibc's, and the
// one of musl.
var linkerFunctions = []string{"_dl_debug_state", "dl_debug_state"}

// LinkerBreakpoint returns the address for a breakpoint that stops a thread whenever the dynamic linker has changed its list; 0 if
// the program has no dynamic linker. Once the linker has run that is r_brk of its r_debug. Before, the function is found by its
// name: in the linker's memory, or, if it does not export the name, in the linker's file. A linker without symbols may have the
// probe rtld:init_complete of <sys/sdt.h>; a thread comes by there once, with r_brk set.
func (s *ProgramSpace) LinkerBreakpoint() (arch.Addr, error) {
	if namespaces, err := s.Namespaces(); err == nil && len(namespaces) > 0 && namespaces[0].Break != 0 {
		return namespaces[0].Break, nil
	}
	base := s.LinkerBias()
	if base == 0 {
		return 0, nil
	}
	if at := s.exportedByLinker(base); at != 0 {
		return at, nil
	}
	name, err := s.Interpreter()
	if err != nil || name == "" {
		return 0, err
	}
	f, err := s.process.Open(name)
	if err != nil {
		return 0, fmt.Errorf("the dynamic linker %s: %w", name, err)
	}
	defer f.Close()
	at, err := breakpointInFile(f)
	if err != nil {
		return 0, fmt.Errorf("the dynamic linker %s: %w", name, err)
	}
	return s.wrap(base + at), nil
}

// Interpreter returns the path of the dynamic linker that the program names (PT_INTERP), "" if it names none. It is read from the
// program's memory, which is right even after its file has been replaced.
func (s *ProgramSpace) Interpreter() (string, error) {
	h, err := s.programHeaders()
	if err != nil {
		return "", err
	}
	at, size := s.segment(h, elf.PT_INTERP)
	if size == 0 {
		return "", nil
	}
	return s.text(at), nil
}

// exportedByLinker finds the function by the dynamic symbols of the linker that is loaded at base; 0 if it exports none.
func (s *ProgramSpace) exportedByLinker(base arch.Addr) arch.Addr {
	h, err := s.headersAt(base)
	if err != nil {
		return 0
	}
	at, size := s.segment(h, elf.PT_DYNAMIC)
	if size == 0 {
		return 0
	}
	l, err := s.library(h.bias, at)
	if err != nil {
		return 0
	}
	for _, name := range linkerFunctions {
		if at := l.find(name); at != 0 {
			return at
		}
	}
	return 0
}

// breakpointInFile finds the function, or the probe, in the file of a dynamic linker.
func breakpointInFile(r io.ReaderAt) (arch.Addr, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return 0, fmt.Errorf("reading an ELF file: %w", err)
	}
	symbols, _ := f.Symbols() // none in a stripped file
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && slices.Contains(linkerFunctions, s.Name) {
			return arch.Addr(s.Value), nil
		}
	}
	object, err := sdt.Read(r)
	if err != nil {
		return 0, err
	}
	for _, p := range object.Probes {
		if p.Provider == "rtld" && p.Name == "init_complete" {
			return p.PC, nil
		}
	}
	return 0, fmt.Errorf("it has neither a function %s nor the probe rtld:init_complete, so that loading a library cannot be noticed",
		linkerFunctions[0])
}
