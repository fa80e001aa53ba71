package replay

import (
	"bytes"
	"debug/elf"
	"io"
	"path/filepath"
	"slices"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/symbol"
	"tracewell/target"
)

// longestPath bounds what is read of a path in a file.
const longestPath = 4096

// openLibraries opens the shared libraries of the process that are known, leaving out those that are not there any more.
func openLibraries(objects []*symbol.Object) []*program {
	var libraries []*program
	for _, o := range objects {
		if p, err := openProgram(o.Path()); err == nil {
			p.place(o.Bias())
			libraries = append(libraries, p)
		}
	}
	return libraries
}

// openSeparate opens the files that have the debugging information of others.
func openSeparate(objects []*symbol.Object) []*program {
	var separate []*program
	for _, o := range objects {
		path := o.File().DebugPath()
		if path == "" || path == o.Path() {
			continue
		}
		if p, err := openProgram(path); err == nil {
			separate = append(separate, p)
		}
	}
	return separate
}

// dynamic is where the dynamic section was in the process, 0 for a file without one.
func (p *program) dynamic() arch.Addr {
	i := slices.IndexFunc(p.elf.Progs, func(s *elf.Prog) bool { return s.Type == elf.PT_DYNAMIC })
	if i < 0 {
		return 0
	}
	return arch.Addr(p.elf.Progs[i].Vaddr) + p.bias
}

// linker is where the dynamic linker was, which is one of the libraries; false if that is not known.
func (f *TraceFile) linker() (arch.Addr, bool) {
	name := f.program.interpreter()
	for _, p := range f.libraries {
		if filepath.Base(p.path) == filepath.Base(name) {
			return p.bias, true
		}
	}
	return 0, false
}

// interpreter is the path of the dynamic linker that a program asks for, "" if it asks for none.
func (p *program) interpreter() string {
	for _, s := range p.elf.Progs {
		if s.Type == elf.PT_INTERP {
			path, _ := io.ReadAll(io.LimitReader(s.Open(), longestPath))
			return string(bytes.TrimRight(path, "\x00"))
		}
	}
	return ""
}

// readConstant reads memory that the process could not change, and returns how many bytes of b, from its start on, are such.
func (f *TraceFile) readConstant(addr arch.Addr, b []byte) int {
	if n := f.program.read(addr, b); n > 0 {
		return n
	}
	for _, p := range f.libraries {
		if n := p.read(addr, b); n > 0 {
			return n
		}
	}
	return 0
}

// Libraries implements target.Groups. Where libraries were is known from files that tracewell record wrote, and otherwise of
// those that have tracepoints.
func (t *TraceTarget) Libraries() target.Libraries {
	if len(t.file.libraries) == 0 {
		return nil
	}
	return t
}

// ReadLibraries implements target.Libraries. The entries of the linker's list are not in the file; they are told apart by
// their places in ours.
func (t *TraceTarget) ReadLibraries(int) (inferior.LinkMap, error) {
	var links inferior.LinkMap
	for i, p := range t.file.libraries {
		links.Objects = append(links.Objects, inferior.LinkObject{
			Name: p.path, LM: arch.Addr(i + 1), Addr: p.bias, LD: p.dynamic(),
		})
	}
	return links, nil
}
