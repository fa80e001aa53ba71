package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/symbol"
	"tracewell/tdesc"
	"tracewell/tdesc/fetch"
	"tracewell/tfile"
)

// image is the process as far as it is known here: the files that it consists of, and where they lie.
type image struct {
	pid     int
	path    string // of its program, as the server has it, or the user names it
	program *symbol.Program
	sites   map[arch.Addr]bool         // where tracepoints are wanted
	loaded  map[library]*symbol.Object // nil for those without names
	entry   arch.Addr                  // of the program
	linker  arch.Addr                  // of the breakpoint by which the dynamic linker tells of libraries, 0 for none
	debug   arch.Addr                  // of the dynamic linker's r_debug, 0 as long as there is none
	objects []string                   // comments that say where files were loaded
	folder  string                     // of copies of files of the server's machine, "" for none
}

// library is one of the libraries of a process, and where it lies.
type library struct {
	Name string `xml:"name,attr"`
	Bias string `xml:"l_addr,attr"`
}

// Numbers of the auxiliary vector and of the dynamic section (System V ABI), and where things are in r_debug.
const (
	auxBase, auxEntry = 7, 9
	dynamicDebug      = 21

	debugBreak, debugState = 16, 24
)

// describe learns the registers.
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
	if name := s.description.Architecture; name != machine.Name {
		return fmt.Errorf("the program there is for %q, but only %s can be traced from here", name, machine.Name)
	}
	if s.layout, err = s.description.Layout(); err == nil && s.layout.ByNumber(machine.PC) == nil {
		err = errors.New("the server's description of the registers has no program counter")
	}
	return err
}

// identify finds out what the process consists of, as far as it has got with loading it.
func (s *Session) identify() error {
	thread, err := s.server.Current()
	if err != nil {
		return err
	}
	s.pid = thread.PID
	auxv, err := s.server.transfer("auxv", "")
	if err != nil {
		return err
	}
	if s.entry = vectorValue(auxv, auxEntry); s.entry == 0 {
		return errors.New("the server does not say where the program lies in memory")
	}
	if err := s.openProgram(); err != nil {
		return err
	}
	s.note(s.program.Main(), s.path)
	s.dynamic = vectorValue(auxv, auxBase) != 0
	return nil
}

// vectorValue finds a value in a list of pairs of words, 0 if there is none.
func vectorValue(b []byte, key uint64) arch.Addr {
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == key {
			return arch.Addr(binary.LittleEndian.Uint64(b[8:]))
		}
	}
	return 0
}

// openProgram reads the program's file: the one that the user names, or that of the server, which is copied unless there is the
// same here.
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
	options := s.config.Symbols
	options.Layout = s.layout
	if s.program, err = symbol.Open(path, options); err != nil {
		return err
	}
	s.program.Rebase(s.entry - s.program.Main().Entry() + s.program.Main().Bias())
	return nil
}

// copied copies a file of the server's machine.
func (s *Session) copied(path string) (string, error) {
	if s.folder == "" {
		folder, err := os.MkdirTemp("", "tracewell-remote-")
		if err != nil {
			return "", err
		}
		s.folder = folder
	}
	return s.server.copyFile(path, s.folder)
}

// same reports whether what the process has loaded is this file, by the identifier that linkers give them. Of one without nothing
// can be told.
func (s *Session) same(o *symbol.Object) bool {
	note, addr, ok := o.File().Section(".note.gnu.build-id")
	if !ok {
		return true
	}
	there, err := s.server.memory(addr+o.Bias(), len(note))
	return err == nil && bytes.Equal(there, note)
}

// note keeps where a file was loaded.
func (s *Session) note(o *symbol.Object, path string) {
	if line := (tfile.Object{Path: path, Bias: o.Bias()}).Comment(); line != "" {
		s.objects = append(s.objects, line)
	}
}

// libraries takes note of the libraries that the process has by now, and reports whether there are any that were not there before.
// While the dynamic linker is at work on its list nothing has come.
func (s *Session) libraries() (came bool, err error) {
	if s.debug == 0 {
		if s.debug, err = s.findDebug(); err != nil || s.debug == 0 {
			return false, err
		}
	}
	if state, err := s.server.word(s.debug + debugState); err != nil || uint32(state) != 0 {
		return false, err
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
			came = came || o != nil
		}
	}
	return came, nil
}

// forget takes a library out that is gone. Servers know nothing of that: gdbserver 13.1 refuses what it has at an address already,
// and so what comes there again is not traced.
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

// findDebug finds the dynamic linker's r_debug, 0 if it has not yet told where that is.
func (s *Session) findDebug() (arch.Addr, error) {
	content, addr, ok := s.program.Main().File().Section(".dynamic")
	if !ok {
		return 0, nil
	}
	dynamic, err := s.server.memory(addr+s.program.Main().Bias(), len(content))
	return vectorValue(dynamic, dynamicDebug), err
}

// addLibrary reads a library, from here if the same is here. One that has no file, as the kernel's own, or none that can be read
// is nil.
func (s *Session) addLibrary(l library) *symbol.Object {
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
