package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
	"tracewell/tfile"
)

// image is the process as far as this side knows it: its files, with their symbols, and where they are loaded.
type image struct {
	pid     int
	path    string // of its program, as the server has it, or the user names it
	program *symbol.Program
	space   *inferior.ProgramSpace
	sites   map[arch.Addr]bool         // of tracepoints
	loaded  map[library]*symbol.Object // nil for those whose file could not be read
	debug   inferior.Namespace         // the program's own, as read last; zero until the dynamic linker has set it up
	linker  arch.Addr                  // of the breakpoint at which the dynamic linker reports libraries, 0 for none
	objects []string                   // comments that say where files were loaded
	folder  string                     // of copies of files of the server's machine, "" for none
}

// library is an element of the server's list of libraries (qXfer:libraries-svr4). The server reads the linker's list
// itself: two requests for each library would take long over a network.
type library struct {
	Name string `xml:"name,attr"`
	Bias string `xml:"l_addr,attr"`
}

// serverProcess is the process as package inferior reads it.
type serverProcess struct{ s *Session }

// ReadMemory implements inferior.Process.
func (p serverProcess) ReadMemory(addr arch.Addr, b []byte) (int, error) {
	// All or nothing; package inferior asks for what it knows to be there.
	there, err := p.s.server.memory(addr, len(b))
	return copy(b, there), err
}

// ReadAuxv implements inferior.Process.
func (p serverProcess) ReadAuxv() ([]byte, error) { return p.s.server.transfer("auxv", "") }

// Open implements inferior.Process by a copy of the file.
func (p serverProcess) Open(path string) (inferior.File, error) {
	copied, err := p.s.copied(path)
	if err != nil {
		return nil, err
	}
	return os.Open(copied)
}

// describe reads the target description, which must be of a machine whose programs can be traced, with a program
// counter.
func (s *Session) describe() error {
	read, err := fetch.Annexes(s.server.Client)
	if err != nil {
		return err
	}
	document, err := read(fetch.Main)
	if err != nil {
		return err
	}
	if s.description, _, err = tdesc.Parse(document, read); err != nil {
		return err
	}
	// Bytecode that is compiled for one machine means something else on another.
	m := s.description.Machine()
	if !m.Variables {
		return fmt.Errorf("the program there is for %q, but only %s can be traced from here", s.description.Architecture, traced())
	}
	if s.layout, err = s.description.Layout(); err != nil {
		return err
	}
	s.isa = s.layout.ISA(m, s.description.Architecture, m.Order)
	if s.isa.PC == arch.NoReg {
		return errors.New("the server's description of the registers has no program counter")
	}
	return nil
}

// traced lists the architectures whose programs can be traced: those on which variables are found.
func traced() string {
	var names []string
	for _, m := range arch.Machines() {
		if m.Variables {
			names = append(names, m.Architectures[0])
		}
	}
	return strings.Join(names, ", ")
}

// identify reads the process id and the program of the process. Its libraries may not have been loaded yet.
func (s *Session) identify() error {
	// The process is in the thread-id, since the multiprocess extensions were announced.
	thread, err := client.Do(s.server.Client, client.Ask(request.CurrentThread, request.None{}, reply.Current))
	if err != nil {
		return err
	}
	s.pid = thread.PID
	if s.space, err = inferior.New(serverProcess{s}, s.isa); err != nil {
		return err
	}
	if s.space.Entry() == 0 {
		return errors.New("the server does not say where the program lies in memory: its auxiliary vector has no entry point")
	}
	if err := s.openProgram(); err != nil {
		return err
	}
	s.note(s.program.Main(), s.path)
	s.dynamic = s.space.LinkerBias() != 0
	return nil
}

// openProgram reads the program's file: the one that the user names, or the one that the server executes, which is
// copied unless the same build is here under the same path.
func (s *Session) openProgram() error {
	if path := s.config.Program.Path; path != "" {
		if err := s.openFile(path); err != nil {
			return err
		}
		s.path = path
		if full, err := filepath.Abs(path); err == nil {
			s.path = full
		}
		if !s.same(s.program.Main()) {
			return fmt.Errorf("%s is not the program that the server runs, but another build of it, or another program", path)
		}
		return nil
	}
	name, err := s.server.transfer("exec-file", strconv.FormatInt(int64(s.pid), 16))
	if err != nil {
		return fmt.Errorf("the file of the program has to be named: %w", err)
	}
	s.path = string(name)
	if s.openFile(s.path) == nil {
		// On the same machine, or one with the same packages, the file is here, with separate debug files beside it.
		if s.same(s.program.Main()) {
			return nil
		}
		_ = s.program.Close() // it was only read
	}
	copied, err := s.copied(s.path)
	if err != nil {
		return fmt.Errorf("the file of the program is not here, and has to be named: %w", err)
	}
	return s.openFile(copied)
}

func (s *Session) openFile(path string) (err error) {
	// Locations of variables are in registers of the server's description, which may number them in its own way.
	options := s.config.Symbols
	options.Layout = s.layout
	// Names are found at addresses of the file until Rebase.
	if s.program, err = symbol.Open(path, options); err != nil {
		return err
	}
	bias, err := s.space.Bias(s.program.Main().File().EntryPoint())
	s.program.Rebase(bias)
	return err
}

// copied copies a file of the server's machine into a temporary folder, which Close removes.
func (s *Session) copied(path string) (string, error) {
	// The folder is made with the first copy: on the same machine there is none.
	if s.folder == "" {
		folder, err := os.MkdirTemp("", "tracewell-remote-")
		if err != nil {
			return "", err
		}
		s.folder = folder
	}
	return s.server.copyFile(path, s.folder)
}

// same reports whether the process has loaded this file and not another build of it: tracepoints at the addresses of
// another build would hit anywhere. The note with the build-id is in memory, too, at the place that the file gives.
// Files without one pass.
func (s *Session) same(o *symbol.Object) bool {
	note, addr, ok := o.File().Section(".note.gnu.build-id")
	if !ok {
		return true
	}
	// A server that cannot read it has another file there, or none.
	there, err := s.server.memory(addr+o.Bias(), len(note))
	return err == nil && bytes.Equal(there, note)
}

// note records where a file was loaded, for the trace file.
func (s *Session) note(o *symbol.Object, path string) {
	if line := (tfile.Object{Path: path, Bias: o.Bias()}).Comment(); line != "" {
		s.objects = append(s.objects, line)
	}
}

// libraries updates the libraries of the process, and reports whether any were added. While the dynamic linker
// changes its list, the list stays as it was here: the linker reports the end of the change, too.
func (s *Session) libraries() (added bool, err error) {
	links := inferior.LinkMap{}
	if links.Namespaces, err = s.space.Namespaces(); err != nil || len(links.Namespaces) == 0 {
		return false, err
	}
	if s.debug = links.Namespaces[0]; !links.Consistent() {
		return false, nil
	}
	document, err := s.server.transfer("libraries-svr4", "")
	if err != nil {
		return false, err
	}
	var list struct {
		Libraries []library `xml:"library"`
	}
	if err := xml.Unmarshal(document, &list); err != nil {
		return false, fmt.Errorf("the list of libraries: %w", err)
	}
	// Those that are gone come first: another library may have been loaded at the same address.
	for l, o := range s.loaded {
		if !slices.Contains(list.Libraries, l) {
			delete(s.loaded, l)
			s.forget(o)
		}
	}
	for _, l := range list.Libraries {
		if _, known := s.loaded[l]; !known {
			o := s.addLibrary(l)
			s.loaded[l] = o
			added = added || o != nil
		}
	}
	return added, nil
}

// forget removes a library that the process has unloaded. Its tracepoints stay defined at the server, since no packet
// deletes a single one, and gdbserver 13.1 rejects a second definition at an address: a library that is loaded there
// again is not traced.
func (s *Session) forget(o *symbol.Object) {
	if o == nil {
		return
	}
	for at := range s.sites {
		if s.program.At(at).Object == o {
			s.warn("%s has been unloaded: where it is loaded again it is not traced", o.Path())
			break
		}
	}
	s.program.Remove(o)
}

// addLibrary reads a library: the file of that path here if it is the same build, and otherwise a copy from the
// server's machine. It returns nil if neither can be read, and for the kernel's own object, whose name is no path.
func (s *Session) addLibrary(l library) *symbol.Object {
	// l_addr is a difference, but servers write it as the unsigned number that it is in memory.
	bias, err := strconv.ParseUint(l.Bias, 0, 64)
	if err != nil || !strings.HasPrefix(l.Name, "/") {
		return nil
	}
	o, err := s.program.Add(l.Name, arch.Addr(bias))
	if err == nil && !s.same(o) {
		s.program.Remove(o)
		err = errors.New("another build")
	}
	if err != nil {
		copied, failed := s.copied(l.Name)
		if failed != nil {
			return nil
		}
		if o, err = s.program.Add(copied, arch.Addr(bias)); err != nil {
			return nil
		}
	}
	s.note(o, l.Name)
	return o
}
