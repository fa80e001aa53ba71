package symbol

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"tracewell/arch"
	"tracewell/internal/symtab"
	"tracewell/sdt"
)

// Options say how files are read.
type Options struct {
	DebugDirs []string                // folders with separate debug files; nil for /usr/lib/debug
	Progress  func(done, total int64) // told of the reading of debug information, which may take long; nil for nobody
}

// Program is an executable and the shared libraries it has loaded.
type Program struct {
	options Options

	mu      sync.RWMutex
	objects []*Object // the executable first
}

// Object is one file of a program, where the process has it.
type Object struct {
	path  string
	bias  arch.Addr
	table *symtab.Table
	sdt   *sdt.Object
}

// Open reads an executable. One without debug information is no error: its functions are found by the ELF symbols.
func Open(path string, options Options) (*Program, error) {
	p := &Program{options: options}
	if _, err := p.Add(path, 0); err != nil {
		return nil, err
	}
	return p, nil
}

// Close gives back what the program holds. Programs made of it by Fork stay whole.
func (p *Program) Close() error { return nil }

// Fork returns another Program of the same files in the same places, which changes independently.
func (p *Program) Fork() *Program {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return &Program{options: p.options, objects: slices.Clone(p.objects)}
}

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
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	table, err := symtab.Read(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	probes, err := sdt.Read(file)
	if err != nil {
		probes = &sdt.Object{}
	}
	o := &Object{path: path, bias: bias, table: table.Rebase(bias), sdt: probes}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.objects = append(p.objects, o)
	return o, nil
}

// Remove removes a shared library that the process has unloaded. Locations in it keep their Object.
func (p *Program) Remove(o *Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.objects = slices.DeleteFunc(slices.Clone(p.objects), func(other *Object) bool { return other == o })
}

// Rebase says where the process has the executable, which then is another Object. What was found before stays as it was.
func (p *Program) Rebase(bias arch.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	moved := *p.objects[0]
	moved.bias, moved.table = bias, moved.table.Rebase(bias)
	p.objects = slices.Clone(p.objects)
	p.objects[0] = &moved
}

// Path returns the path that the object was opened by.
func (o *Object) Path() string { return o.path }

// Bias returns how far above where its file has it the object lies in the process.
func (o *Object) Bias() arch.Addr { return o.bias }

// Relocatable reports whether the object can be loaded anywhere, so that its addresses hold only with the bias of a process.
func (o *Object) Relocatable() bool { return o.table.Relocatable() }

// Entry returns where the object starts to run in the process.
func (o *Object) Entry() arch.Addr { return o.sdt.Entry + o.bias }
