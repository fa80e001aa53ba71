//go:build linux && amd64

package record

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"tracewell/arch"
	"tracewell/record/definition"
	"tracewell/symbol"
	"tracewell/target"
)

// process is one process under trace: the files that it consists of, and where tracepoints are in it.
type process struct {
	pid     int
	path    string // of its program
	program *symbol.Program
	loaded  map[target.LinkObject]*symbol.Object // shared libraries; nil for those that could not be read
	linker  arch.Addr                            // of the breakpoint by which the dynamic linker tells of libraries, 0 for none
	sites   map[arch.Addr]bool                   // where it wants tracepoints
}

// Numbers of the auxiliary vector (System V ABI), and where things are in the dynamic linker's r_debug.
const (
	atBase, atEntry = 7, 9

	debugBreak, debugState = 16, 24
)

// openProcess finds out what a process runs.
func (s *Session) openProcess(pid int) (*process, error) {
	path, err := s.target.ExecFile().ReadExecFile(pid)
	if err != nil {
		return nil, err
	}
	p := &process{pid: pid, path: path, loaded: make(map[target.LinkObject]*symbol.Object), sites: make(map[arch.Addr]bool)}
	if p.program, err = s.openProgram(pid, path); err != nil {
		return nil, err
	}
	entry, err := s.auxv(pid, atEntry)
	if err != nil {
		return nil, err
	}
	p.program.Rebase(entry - p.program.Main().Entry() + p.program.Main().Bias())
	s.objects = append(s.objects, p.program.Main())
	return p, nil
}

// openProgram reads the program of a process, by its path or, where that leads to another file as in a container, by the kernel.
// What has been read is not read again for another process.
func (s *Session) openProgram(pid int, path string) (*symbol.Program, error) {
	seen := fmt.Sprintf("/proc/%d/exe", pid)
	kept, err := os.Stat(seen)
	if err != nil {
		return nil, err
	}
	for _, known := range s.programs {
		if os.SameFile(known.status, kept) {
			return known.program.Fork(), nil
		}
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(named, kept) {
		path = seen
	}
	program, err := symbol.Open(path, s.config.Symbols)
	if err != nil {
		return nil, err
	}
	if file := program.Main().File(); !file.IsAMD64() {
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

// auxv reads a value of the auxiliary vector, 0 if it has none.
func (s *Session) auxv(pid int, key uint64) (arch.Addr, error) {
	b, err := s.target.Auxv().ReadAuxv(pid)
	if err != nil {
		return 0, err
	}
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == key {
			return arch.Addr(binary.LittleEndian.Uint64(b[8:])), nil
		}
	}
	return 0, nil
}

// watchLinker sets the breakpoint by which the dynamic linker tells of libraries. Before the linker has run the place is found
// by its name there; a static program has none.
func (s *Session) watchLinker(p *process) error {
	at, err := s.linkerBreak(p)
	if err != nil || at == 0 {
		return err
	}
	if err := s.target.Breakpoints().InsertBreakpoint(target.ThreadID{PID: p.pid, TID: p.pid}, target.Breakpoint{Addr: at, Length: 1}); err != nil {
		return err
	}
	p.linker = at
	return nil
}

func (s *Session) linkerBreak(p *process) (arch.Addr, error) {
	links, err := s.target.Libraries().ReadLibraries(p.pid)
	if err == nil && len(links.Objects) > 0 {
		at, err := s.word(p.pid, links.Objects[0].LMID+debugBreak)
		return arch.Addr(at), err
	}
	base, err := s.auxv(p.pid, atBase)
	if err != nil || base == 0 {
		return 0, err
	}
	name, err := interpreter(fmt.Sprintf("/proc/%d/exe", p.pid))
	if err != nil || name == "" {
		return 0, err
	}
	offset, err := linkerSymbol(fmt.Sprintf("/proc/%d/root%s", p.pid, name))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return base + offset, nil
}

// interpreter is the path of the dynamic linker that a program asks for, empty if it asks for none.
func interpreter(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz > 0 {
			b, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
			if err != nil || len(b) == 0 {
				return "", err
			}
			return string(b[:len(b)-1]), nil
		}
	}
	return "", nil
}

// linkerSymbol finds the function that a dynamic linker calls when its list has changed, and does nothing else.
func linkerSymbol(path string) (arch.Addr, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	dynamic, _ := f.DynamicSymbols()
	static, _ := f.Symbols()
	for _, s := range append(dynamic, static...) {
		if s.Name == "_dl_debug_state" || s.Name == "dl_debug_state" {
			return arch.Addr(s.Value), nil
		}
	}
	return 0, errors.New("it does not say when libraries are loaded")
}

// word reads eight bytes of a process.
func (s *Session) word(pid int, addr arch.Addr) (uint64, error) {
	var b [8]byte
	if _, err := s.target.ReadMemory(target.ThreadID{PID: pid, TID: pid}, addr, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

// libraries brings what is known of the libraries of a process up to date, unless the linker is at work on its list. It returns
// the objects that have come; those that have gone are forgotten, with the tracepoints in them.
func (s *Session) libraries(p *process) (came []*symbol.Object, consistent bool, err error) {
	links, err := s.target.Libraries().ReadLibraries(p.pid)
	if err != nil || len(links.Objects) == 0 {
		return nil, false, err
	}
	for _, l := range links.Objects {
		if state, err := s.word(p.pid, l.LMID+debugState); err != nil || uint32(state) != 0 {
			return nil, false, err
		}
	}
	present := make(map[target.LinkObject]bool)
	for _, l := range links.Objects {
		present[l] = true
	}
	for l, o := range p.loaded {
		if present[l] {
			continue
		}
		delete(p.loaded, l)
		if o != nil {
			s.forgetObject(p, o)
		}
	}
	for _, l := range links.Objects {
		if _, known := p.loaded[l]; known || l.LM == links.Main || l.Name == "" {
			continue
		}
		o := s.addLibrary(p, l)
		if p.loaded[l] = o; o != nil {
			came = append(came, o)
		}
	}
	return came, true, nil
}

// addLibrary reads a library. One that has no file, as the kernel's own, or none that can be read has no names.
func (s *Session) addLibrary(p *process, l target.LinkObject) *symbol.Object {
	path := l.Name
	if within := fmt.Sprintf("/proc/%d/root%s", p.pid, l.Name); !sameFile(path, within) {
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

// forgetObject takes a library that is gone out of a process.
func (s *Session) forgetObject(p *process, o *symbol.Object) {
	for addr := range p.sites {
		if p.program.At(addr).Object == o {
			delete(p.sites, addr)
			if site := s.sites[addr]; site != nil {
				_ = s.target.Tracer().Installer(p.pid).Uninstall(site) // its memory is gone
			}
		}
	}
	p.program.Remove(o)
}

// image is what it is to who finds places in it.
func (p *process) image() definition.Image {
	return definition.Image{Program: p.program, Sites: p.sites}
}

// fork is what is known of a child, a copy of the process.
func (p *process) fork(pid int) *process {
	child := *p
	child.pid = pid
	child.program = p.program.Fork()
	child.loaded, child.sites = maps.Clone(p.loaded), maps.Clone(p.sites)
	return &child
}
