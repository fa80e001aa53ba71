//go:build linux && amd64

package record

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	program *symbol.Program
	loaded  map[inferior.LinkObject]*symbol.Object // shared libraries; nil for those that could not be read
	linker  arch.Addr                              // of the breakpoint at which the dynamic linker reports libraries, 0 for none
	sites   map[arch.Addr]bool                     // of tracepoints in it
}

// openProcess reads the program of a process, at the addresses where it is loaded.
func (s *Session) openProcess(pid int) (*process, error) {
	path, err := s.target.ExecFile().ReadExecFile(pid)
	if err != nil {
		return nil, err
	}
	p := &process{pid: pid, path: path, loaded: make(map[inferior.LinkObject]*symbol.Object), sites: make(map[arch.Addr]bool)}
	if p.program, err = s.openProgram(pid, path); err != nil {
		return nil, err
	}
	space, err := target.ProgramSpace(s.target, pid)
	if err != nil {
		return nil, err
	}
	// AT_ENTRY says where the program lies before the dynamic linker has run.
	bias, err := space.Bias(p.program.Main().File().EntryPoint())
	if err != nil {
		return nil, err
	}
	p.program.Rebase(bias)
	s.objects = append(s.objects, p.program.Main())
	return p, nil
}

// openProgram reads the program of a process: by its path or, if that leads to another file because the process is in a container
// or the file was replaced, by the kernel's link to the one that it executes. Processes that execute the same file share what was
// read.
func (s *Session) openProgram(pid int, path string) (*symbol.Program, error) {
	seen := fmt.Sprintf("/proc/%d/exe", pid)
	kept, err := os.Stat(seen)
	if err != nil {
		return nil, err
	}
	// Found by device and inode: the path may be another, or lead elsewhere in the process's mount namespace.
	for _, known := range s.programs {
		if os.SameFile(known.status, kept) {
			return known.program.Fork(), nil
		}
	}
	// The path of the file itself is better than the link: separate debug files are looked for beside it.
	if named, err := os.Stat(path); err != nil || !os.SameFile(named, kept) {
		path = seen
	}
	program, err := symbol.Open(path, s.config.Symbols)
	if err != nil {
		return nil, err
	}
	if file := program.Main().File(); file.Arch() != s.target.ISA().Machine {
		return nil, errors.Join(foreignError(path, file.Machine()), program.Close())
	}
	s.programs = append(s.programs, knownProgram{kept, program})
	return program.Fork(), nil
}

// knownProgram is a program that was read, without libraries.
type knownProgram struct {
	status  os.FileInfo
	program *symbol.Program
}

// watchLinker inserts the breakpoint at which the dynamic linker reports a change of its list, in place of an earlier one: before
// the linker has run only the place of that first report may be known. A static program has none.
func (s *Session) watchLinker(p *process) error {
	space, err := target.ProgramSpace(s.target, p.pid)
	if err != nil {
		return err
	}
	at, err := space.LinkerBreakpoint()
	if err != nil || at == 0 || at == p.linker {
		return err
	}
	id := target.ThreadID{PID: p.pid, TID: p.pid}
	if p.linker != 0 {
		// The new place is the linker's own, once it has relocated itself.
		if err := s.target.Breakpoints().RemoveBreakpoint(id, target.Breakpoint{Addr: p.linker, Length: 1}); err != nil {
			return err
		}
	}
	if err := s.target.Breakpoints().InsertBreakpoint(id, target.Breakpoint{Addr: at, Length: 1}); err != nil {
		return err
	}
	p.linker = at
	return nil
}

// libraries updates the libraries of a process from the linker's list, unless the linker is in the middle of a change. It returns
// the objects that were added; those that were unloaded are removed, with the tracepoints in them.
func (s *Session) libraries(p *process) (added []*symbol.Object, consistent bool, err error) {
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

// addLibrary reads a library, through the root of the process if the path leads elsewhere from here, as for one in a container. It
// returns nil if the file cannot be read; then there are no tracepoints in the library.
func (s *Session) addLibrary(p *process, l inferior.LinkObject) *symbol.Object {
	path, within := l.Name, fmt.Sprintf("/proc/%d/root%s", p.pid, l.Name)
	if !filepath.IsAbs(path) {
		within = fmt.Sprintf("/proc/%d/cwd/%s", p.pid, l.Name)
	}
	if !sameFile(path, within) {
		path = within
	}
	o, err := p.program.Add(realPath(path), l.Addr)
	if err != nil {
		return nil
	}
	s.objects = append(s.objects, o)
	return o
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
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
