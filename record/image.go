package record

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/record/definition"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/trace"
)

// process is one process under trace: its files, with their symbols, and the addresses of its tracepoints.
type process struct {
	pid     int
	path    string // of its program
	claimed bool   // see Executable
	program *symbol.Program
	loaded  map[inferior.LinkObject]*symbol.Object // shared libraries; nil for those that could not be read
	linker  arch.Addr                              // of the breakpoint at which the dynamic linker reports libraries, 0 for none
	sites   map[arch.Addr]bool                     // of tracepoints in it
}

// openProcess reads the program of a process, at the addresses where it is loaded.
func (s *Session) openProcess(pid int) (*process, error) {
	executable, err := s.host.Executable(pid)
	if err != nil {
		return nil, err
	}
	p := &process{
		pid: pid, path: executable.Path, claimed: executable.Claimed,
		loaded: make(map[inferior.LinkObject]*symbol.Object), sites: make(map[arch.Addr]bool),
	}
	if p.program, err = s.openProgram(executable.File); err != nil {
		return nil, err
	}
	bias, err := s.bias(pid, p.program.Main())
	if err != nil {
		return nil, err
	}
	p.program.Rebase(bias)
	s.objects = append(s.objects, p.program.Main())
	return p, nil
}

// bias is how far above the addresses of its file a program lies. Without an operating system it lies where it was linked for.
func (s *Session) bias(pid int, program *symbol.Object) (arch.Addr, error) {
	if s.target.Auxv() == nil {
		if program.File().PIE() {
			return 0, fmt.Errorf("%s can be loaded anywhere, and nobody says where it lies", program.Path())
		}
		return 0, nil
	}
	space, err := target.ProgramSpace(s.target, pid)
	if err != nil {
		return 0, err
	}
	// AT_ENTRY says where the program lies before the dynamic linker has run.
	return space.Bias(program.File().EntryPoint())
}

// codeBytes is how much of the code at a location is compared.
const codeBytes = 8

// otherCode warns if the code in memory is not that of the file where tracepoints will be. It may be an error of the user's, or
// code that is copied into memory later.
func (s *Session) otherCode(p *process, found []trace.Tracepoint) error {
	if !p.claimed {
		return nil
	}
	id := target.Leader(s.target, p.pid)
	for _, d := range found {
		o := p.program.At(d.Addr).Object
		if o == nil { // an address that the user gave
			continue
		}
		code := o.Code(d.Addr, codeBytes)
		there := make([]byte, len(code))
		// What cannot be read cannot be traced either, which is told when a tracepoint is installed.
		if _, err := s.target.ReadMemory(id, d.Addr, there); err == nil && !bytes.Equal(code, there) {
			return fmt.Errorf("the program has other code at %s than %s: it is another build, or its code is not loaded yet", d.Addr, p.path)
		}
	}
	return nil
}

// hasLibraries reports whether programs of the target can load libraries, and be stopped when they do.
func (s *Session) hasLibraries() bool {
	return s.target.Auxv() != nil && s.target.Libraries() != nil && s.target.Breakpoints() != nil
}

// openProgram reads a program. Processes that execute the same file share what was read.
func (s *Session) openProgram(path string) (*symbol.Program, error) {
	kept, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Found by device and inode: the path may be another, or lead elsewhere in the process's mount namespace.
	for _, known := range s.programs {
		if os.SameFile(known.status, kept) {
			return known.program.Fork(), nil
		}
	}
	program, err := symbol.Open(path, s.config.Symbols)
	if err != nil {
		return nil, err
	}
	if file := program.Main().File(); file.Arch() != s.target.ISA().Machine {
		return nil, errors.Join(Foreign(path, file.Machine(), s.target.ISA().Machine), program.Close())
	}
	program.ReadAhead() // libraries are opened meanwhile
	s.programs = append(s.programs, knownProgram{kept, program})
	return program.Fork(), nil
}

// Foreign refuses a program for another processor than the one that is recorded.
func Foreign(path string, machine elf.Machine, recorded *arch.Machine) error {
	return fmt.Errorf("%s: it is a program for %v, and only those for %s can be recorded", path, machine, recorded.Title)
}

// knownProgram is a program that was read, without libraries.
type knownProgram struct {
	status  os.FileInfo
	program *symbol.Program
}

// watchLinker inserts the breakpoint at which the dynamic linker reports a change of its list, in place of an earlier one: before
// the linker has run only the place of that first report may be known. A static program has none.
func (s *Session) watchLinker(p *process) error {
	if !s.hasLibraries() {
		return nil
	}
	space, err := target.ProgramSpace(s.target, p.pid)
	if err != nil {
		return err
	}
	at, err := space.LinkerBreakpoint()
	if err != nil || at == 0 || at == p.linker {
		return err
	}
	id := target.Leader(s.target, p.pid)
	if p.linker != 0 {
		// The new place is the linker's own, once it has relocated itself.
		if err := s.target.Breakpoints().RemoveBreakpoint(id, target.Breakpoint{Addr: p.linker}); err != nil {
			return err
		}
	}
	if err := s.target.Breakpoints().InsertBreakpoint(id, target.Breakpoint{Addr: at}); err != nil {
		return err
	}
	p.linker = at
	return nil
}

// libraries updates the libraries of a process from the linker's list, unless the linker is in the middle of a change. It returns
// the objects that were added; those that were unloaded are removed, with the tracepoints in them.
func (s *Session) libraries(p *process) (added []*symbol.Object, consistent bool, err error) {
	if !s.hasLibraries() {
		return nil, true, nil
	}
	links, err := s.target.Libraries().ReadLibraries(p.pid)
	switch {
	case !links.Consistent():
		// The linker reports the end of the change by the same breakpoint.
		return nil, false, nil // any error is about a half-written list
	case err != nil || len(links.Objects) == 0:
		return nil, false, err
	case p.linker != 0 && p.linker != links.Namespaces[0].Break:
		if err := s.watchLinker(p); err != nil {
			return nil, false, err
		}
	}
	for l, o := range p.loaded { // first, since another may have been loaded at the same address
		if slices.Contains(links.Objects, l) {
			continue
		}
		delete(p.loaded, l)
		if o != nil {
			s.forgetObject(p, o)
		}
	}
	for l := range links.Libraries() {
		if _, known := p.loaded[l]; known {
			continue
		}
		o := s.addLibrary(p, l)
		// One that cannot be read is kept as nil, so that it is not tried again at every change.
		if p.loaded[l] = o; o != nil {
			added = append(added, o)
		}
	}
	return added, true, nil
}

// addLibrary reads a library. It returns nil if the file cannot be read; then there are no tracepoints in the library.
func (s *Session) addLibrary(p *process, l inferior.LinkObject) *symbol.Object {
	o, err := p.program.Add(realPath(s.host.Library(p.pid, l.Name)), l.Addr)
	if err != nil {
		return nil
	}
	s.objects = append(s.objects, o)
	return o
}

// forgetObject removes a library that a process has unloaded, with its tracepoints.
func (s *Session) forgetObject(p *process, o *symbol.Object) {
	// What another process has there stays in force for that one.
	gone := make(map[arch.Addr]bool) // of no process any more
	var shared []arch.Addr
	for addr := range p.sites {
		switch {
		case p.program.At(addr).Object != o:
		case len(s.at(addr)) == 1:
			gone[addr] = true
		case s.isTraced(addr):
			shared = append(shared, addr)
		default:
			delete(p.sites, addr)
		}
	}
	_ = s.disable(gone) // errors are about memory that is gone
	for addr := range gone {
		delete(p.sites, addr)
	}
	for _, addr := range shared {
		delete(p.sites, addr)
	}
	_ = s.unfollow(p.pid, shared)
	p.program.Remove(o)
}

// disable disables the tracepoints at addresses where their code is not any more: another library may come there, with other
// tracepoints. They stay in the file's header.
func (s *Session) disable(gone map[arch.Addr]bool) error {
	var keys []trace.Key
	for _, d := range s.finder.Defined {
		if gone[d.Addr] && d.Enabled && !s.away[d.Key()] {
			keys = append(keys, d.Key())
			s.away[d.Key()] = true
		}
	}
	return s.engine.EnableAll(keys, false)
}

// image is the process as definition finds locations in it.
func (p *process) image() definition.Image {
	return definition.Image{Program: p.program, Sites: p.sites}
}

// fork returns the child of a fork, which has a copy of the parent's memory and with it the same files in the same places.
func (p *process) fork(pid int) *process {
	child := *p
	child.pid = pid
	// Symbols are shared; only the list of libraries can go another way in the child.
	child.program = p.program.Fork()
	child.loaded, child.sites = maps.Clone(p.loaded), maps.Clone(p.sites)
	return &child
}
