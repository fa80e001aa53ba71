package symbol

import (
	"bytes"
	"os"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/sdt"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/scope"
	"tracewell/tdesc"
)

// Options say how files are read.
type Options struct {
	DebugDirs []string                // folders with separate debug files; nil for /usr/lib/debug
	Progress  func(done, total int64) // called as debug information is read, which may take long; nil for no report
	// TLSOffset tells how far below the thread pointer the thread-local variables of a shared library begin, false where
	// that is not known; nil for never.
	TLSOffset func(*Object) (int64, bool)
	Layout    *tdesc.Layout // the registers of the target; those of any x86-64 Linux if nil
}

// Program is an executable and the shared libraries it has loaded.
type Program struct {
	options Options
	files   *files

	mu sync.RWMutex
	// objects has the executable first, then libraries in the order of the link map. Entries are never changed in place,
	// so that a reader may go on with the list that it has.
	objects []*Object
	scopes  map[*Object]*scope.Image
}

// Object is one file of a program, where the process has it.
type Object struct {
	*image
	bias arch.Addr
}

// image is what is known of a file wherever it is loaded. Programs share it.
type image struct {
	path    string
	file    *debuginfo.File
	symbols func() *elfSymbols
	probes  func() *sdt.Object
	stubs   func() stubs
	main    func() string // the source file that main is in

	mu    sync.Mutex
	units map[*debuginfo.Unit]*unit
}

// files are the images of a program and of all that were forked from it, by path.
type files struct {
	mu     sync.Mutex
	images map[string]*image
	users  int // programs that are open
}

// Open reads an executable. One without debug information is no error: its functions are found by the ELF symbols.
func Open(path string, options Options) (*Program, error) {
	p := &Program{options: options, files: &files{images: map[string]*image{}, users: 1}}
	if _, err := p.Add(path, 0); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close gives back the files when no program that was forked of this one, or this one of, is open any more.
func (p *Program) Close() error {
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	p.files.users--
	if p.files.users != 0 {
		return nil
	}
	var first error
	for _, i := range p.files.images {
		if err := i.file.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Fork returns another Program of the same files in the same places, which changes independently and is closed on its own.
func (p *Program) Fork() *Program {
	p.files.mu.Lock()
	p.files.users++
	p.files.mu.Unlock()
	return &Program{options: p.options, files: p.files, objects: p.Objects()}
}

// SetTLSOffset has another function tell where thread-local variables of libraries are, in place of that of Options. It is for
// a Program of which nobody has asked for a Scope yet.
func (p *Program) SetTLSOffset(tell func(*Object) (int64, bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.TLSOffset = tell
}

// SetLayout says what registers the target has, in place of those of Options. It is for a Program of which nobody has asked for a
// Scope yet.
func (p *Program) SetLayout(layout *tdesc.Layout) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.Layout = layout
}

// ReadAhead begins to read what it takes to find functions of the executable by their names, while the caller does something else.
func (p *Program) ReadAhead() { p.Main().file.ReadAhead() }

// Main returns the executable.
func (p *Program) Main() *Object { return p.Objects()[0] }

// Objects returns the executable and the shared libraries in the order in which they were added.
func (p *Program) Objects() []*Object {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Clone(p.objects)
}

// Add adds a shared library that the process has loaded bias bytes above where its file has it.
func (p *Program) Add(path string, bias arch.Addr) (*Object, error) {
	i, err := p.files.open(path, p.options)
	if err != nil {
		return nil, err
	}
	o := &Object{i, bias}
	p.mu.Lock()
	defer p.mu.Unlock()
	// A scope finds names in the other objects, too, and remembers what it found, declarations without a definition included.
	clear(p.scopes) // what others only declare may be defined in it
	p.objects = append(p.objects, o)
	return o, nil
}

// Remove removes a shared library that the process has unloaded. Locations in it keep their Object.
func (p *Program) Remove(o *Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.scopes, o)
	p.objects = slices.DeleteFunc(slices.Clone(p.objects), func(other *Object) bool { return other == o })
}

// Rebase says where the process has the executable, which then is another Object. What was found before stays as it was.
func (p *Program) Rebase(bias arch.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.scopes, p.objects[0])
	p.objects = slices.Clone(p.objects)
	p.objects[0] = &Object{p.objects[0].image, bias}
}

// open returns the image of a file, which is read once for all programs that share it.
func (f *files) open(path string, options Options) (*image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.images[path]; i != nil {
		return i, nil
	}
	file, err := debuginfo.Open(path, debuginfo.Options{DebugDirs: options.DebugDirs, Progress: options.Progress})
	if err != nil {
		return nil, err
	}
	i := &image{path: path, file: file, units: map[*debuginfo.Unit]*unit{}}
	// Each part is read at its first use. A program has dozens of libraries, and of most of them nobody asks anything.
	i.symbols = sync.OnceValue(func() *elfSymbols { return &elfSymbols{file.Symbols()} })
	i.probes = sync.OnceValue(i.readProbes)
	i.stubs = sync.OnceValue(i.readStubs)
	i.main = sync.OnceValue(i.findMain)
	f.images[path] = i
	return i, nil
}

// readProbes reads the static tracepoints. A file whose notes cannot be read has none.
func (i *image) readProbes() *sdt.Object {
	content, err := os.ReadFile(i.path)
	if err != nil {
		return &sdt.Object{}
	}
	object, err := sdt.Read(bytes.NewReader(content))
	if err != nil {
		return &sdt.Object{}
	}
	return object
}

// unit returns what is known of a unit.
func (i *image) unit(u *debuginfo.Unit) *unit {
	i.mu.Lock()
	defer i.mu.Unlock()
	known := i.units[u]
	if known == nil {
		known = newUnit(i.file, u)
		i.units[u] = known
	}
	return known
}

// unitAt returns the unit that has the code at an address of the file, nil if none has.
func (i *image) unitAt(pc arch.Addr) *unit {
	if u := i.file.UnitAt(pc); u != nil {
		return i.unit(u)
	}
	return nil
}

// Path returns the path that the object was opened by.
func (o *Object) Path() string { return o.path }

// Bias returns how far above where its file has it the object lies in the process.
func (o *Object) Bias() arch.Addr { return o.bias }

// File returns the object's debug information, whose addresses are those of the file.
func (o *Object) File() *debuginfo.File { return o.file }

// Relocatable reports whether the object can be loaded anywhere, so that its addresses hold only with the bias of a process.
func (o *Object) Relocatable() bool { return o.file.PIE() }

// Entry returns where the object starts to run in the process.
func (o *Object) Entry() arch.Addr { return o.file.EntryPoint() + o.bias }

// constantSections are where constants are that a program does not change.
var constantSections = []string{".rodata", ".text"}

// ReadConstants reads what the files have at an address of the process that the process cannot change, such as its string
// literals, and returns how much of p that is.
func (p *Program) ReadConstants(addr arch.Addr, b []byte) int {
	for _, o := range p.Objects() {
		for _, name := range constantSections {
			content, begin, ok := o.file.Section(name)
			if at := addr - o.bias; ok && at >= begin && uint64(at-begin) < uint64(len(content)) {
				return copy(b, content[at-begin:])
			}
		}
	}
	return 0
}

// codeSections are where instructions are, those with most of them first.
var codeSections = []string{".text", ".init", ".fini", ".plt", ".plt.sec", ".text.unlikely"}

// code returns n bytes of code at an address of the file, followed by zeros where there is less.
func (i *image) code(pc arch.Addr, n int) []byte {
	// Zeros are no instruction of a prologue, so the end of a section needs no care.
	code := make([]byte, n)
	for _, name := range codeSections {
		if content, addr, ok := i.file.Section(name); ok && pc >= addr && uint64(pc-addr) < uint64(len(content)) {
			copy(code, content[pc-addr:])
			break
		}
	}
	return code
}

// Code is what the file has for the instructions at an address of the process: n bytes, or fewer at the end of a section, or none.
func (o *Object) Code(at arch.Addr, n int) []byte {
	for _, name := range codeSections {
		content, begin, ok := o.file.Section(name)
		if offset := at - o.bias - begin; ok && at-o.bias >= begin && uint64(offset) < uint64(len(content)) {
			return content[offset:][:min(n, len(content)-int(offset))]
		}
	}
	return nil
}

// isCode reports whether there are instructions at an address of the file.
func (i *image) isCode(pc arch.Addr) bool {
	for _, name := range codeSections {
		if content, addr, ok := i.file.Section(name); ok && pc >= addr && uint64(pc-addr) < uint64(len(content)) {
			return true
		}
	}
	return false
}
