package container

import (
	"strings"
	"sync"

	"tracewell/arch"
	"tracewell/symbol/ctype"
)

// Shape is how a type keeps its elements. It has either elements somewhere in memory, or parts within itself.
type Shape struct {
	Form Form
	Name string      // "std::vector", as a debugger calls the type
	Elem *ctype.Type // of the elements in memory

	style ctype.Language // whose debugger writes it

	count  term // how many elements the object has; nil for as many as there are to the end
	first  term // the cursor of the first element
	more   term // whether a cursor is one; nil if the count says so
	next   term // the cursor behind a cursor; nil for elements in a row, whose cursors are their places
	item   term // the place of an element by its cursor; nil if it is the cursor itself
	limits term // a condition of the object without which nothing is followed; nil for none
	room   term // how many elements the object has room for; nil where nothing tells
	none   term // whether the object is nil, as Go calls it; nil if it never is

	figures []figure // numbers of the object, for its title
	owner   term     // memory that tells of the elements, so many bytes; nil for none
	size    term
	target  ctype.Field // of a smart pointer, and the word of an interface that is or points to its value
	dynamic term        // where the type of an interface's or dyn's value is described, 0 for no value; nil for all else
	place   term        // where the value of a dyn lies
	trait   string      // of a dyn: its path; "" if the value is within something else, whose type nothing describes
	types   *Shapes     // which know descriptions
	wide    *ctype.Type // of a reference to the elements, which is the value of what counts owners of a slice; nil for all else
	Parts   []Part
	// stores are recorded in place of the elements one by one, empty places and all; nil for the elements.
	stores []*Shape
	apart  bool // the members of an element do not lie together: each is the element of a store

	programs sync.Map // of terms, by their addresses
}

// Form is how a value is written.
type Form uint8

// The forms.
const (
	Text      Form = iota
	Array          // of length 2, capacity 3 = {a, b}
	Sequence       // {[0] = a, [1] = b}
	Set            // with 2 elements = {[0] = a, [1] = b}
	Map            // with 2 elements = {[k] = v}, the elements being pairs
	Row            // with 2 elements = {a, b}
	Pointer        // = {get() = 0x5555}
	Optional       // = {[contained value] = a}
	Variant        // [index 1] = {a}
	Tuple          // containing = {[1] = a, [2] = b}
	Bits           // a vector of single bits
	Path           // the text of a file's name
	Wrapping       // another container
	Queue          // chan int 2/4
	Shared         // Rc(strong=1, weak=0) = {value = a}
	Members        // {first = a, second = b}
	Interface      // error(*errors.errorString) *{s: "a"}
	Dyn            // &dyn main::Run = main::Job {id: 1}
	Func           // main.main.func1
	Time           // time.Time(2024-02-29T12:30:15+01:00)
)

// figure is a number that an object has, by the word in its title.
type figure struct {
	word  string
	value term
}

// Part is a value within the object.
type Part struct {
	Field ctype.Field
	Name  string // "[1]"; "" for none
	is    term   // whether the part is there; nil for always
}

// Shapes finds the shapes of types, each once. Several goroutines may use it.
type Shapes struct {
	Raw   bool // containers are not recognized: values are what their members are
	known sync.Map
	// Described finds the type that Go's runtime describes at an address, or a table of methods of Rust there is for, nil if it is not
	// known. Without it interfaces have values of types that are not known.
	Described func(arch.Addr) *ctype.Type
	// Concrete lists the types that a dyn of Rust may stand for, by the path of its trait. Without it nothing is collected that their
	// values have elsewhere.
	Concrete func(trait string) []Concrete
}

// Concrete is a type and its table of methods for a trait.
type Concrete struct {
	Table arch.Addr
	Type  *ctype.Type
}

// Of returns the shape of a type of a language, nil for a type that is no container.
func (s *Shapes) Of(t *ctype.Type, language ctype.Language) *Shape {
	// Maps and channels of Go are pointers, as are boxes of Rust.
	if t.Kind != ctype.Record && (t.Kind != ctype.Pointer || language != ctype.Go && language != ctype.Rust) || s.Raw {
		return nil
	}
	if found, ok := s.known.Load(t); ok && found.(recognized).language == language {
		return found.(recognized).shape
	}
	shape := recognize(t, language)
	if shape != nil {
		shape.types = s
	}
	s.known.Store(t, recognized{shape, language})
	return shape
}

// recognized is what is known of a type: its shape, nil if it is no container of the language.
type recognized struct {
	shape    *Shape
	language ctype.Language
}

// recognize looks a type's name up in the tables of its language, and takes the first description that fits.
func recognize(t *ctype.Type, language ctype.Language) (shape *Shape) {
	switch language {
	case ctype.CPlusPlus:
		t = t.Strip()
		name, ok := strings.CutPrefix(t.Name, "std::")
		for _, library := range [...]map[string]maker{standard, libcxx} {
			if make := library[templateName(name)]; ok && make != nil && shape == nil {
				shape = make.fit(t)
			}
		}
	case ctype.Rust:
		shape = maker(rust).fit(t)
	case ctype.Go:
		shape = maker(golang).fit(t)
	}
	if shape != nil {
		shape.style = language
	}
	if shape != nil && shape.Elem != nil && shape.Elem.Size <= 0 { // of which only a pointer is known
		shape.Elem = nil
	}
	return shape
}

// maker makes the shape of a type. It gives up by a panic with missing where the type has not the members that it is known for.
type maker func(*ctype.Type) *Shape

// fit is the shape that a maker makes, nil if it gives up.
func (m maker) fit(t *ctype.Type) (shape *Shape) {
	defer func() {
		if failure := recover(); failure != nil {
			if _, ok := failure.(missing); !ok {
				panic(failure)
			}
			shape = nil
		}
	}()
	return m(t)
}

// inline are the inline namespaces of the libraries of GCC and LLVM.
var inline = [...]string{"__cxx11::", "__1::", "__ndk1::", "__fs::"}

// templateName is a name without inline namespaces, which tell versions of a library apart, and without arguments.
func templateName(name string) string {
	name, _, _ = strings.Cut(name, "<")
	for _, version := range inline {
		name = strings.Replace(name, version, "", 1)
	}
	return name
}

// missing is a member that a type is known for and has not.
type missing string

// at finds a member by its path, its Offset counted from the start of the type.
func at(t *ctype.Type, path ...string) ctype.Field {
	found := ctype.Field{Type: t}
	for _, name := range path {
		f, ok := found.Type.Field(name)
		if !ok { // LLVM has given some members an underscore more
			f, ok = found.Type.Field(name + "_")
		}
		if !ok || f.Static || f.Virtual || f.Offset < 0 {
			panic(missing(name))
		}
		f.Offset += found.Offset
		found = f
	}
	return found
}

// scalar finds a member that is one integer.
func scalar(t *ctype.Type, path ...string) ctype.Field {
	f := at(t, path...)
	if !f.Type.Scalar() || f.Bits > 0 || f.Offset+f.Type.Size > t.Size {
		panic(missing(f.Name))
	}
	return f
}

// pointer finds a member that is a pointer to something with a size.
func pointer(t *ctype.Type, path ...string) ctype.Field {
	f := scalar(t, path...)
	if f.Type.Kind != ctype.Pointer || f.Type.Elem.Size <= 0 {
		panic(missing(f.Name))
	}
	return f
}

// argument is a type that a template was given. GCC describes the arguments of some templates with their base classes alone.
func argument(t *ctype.Type, n int) *ctype.Type {
	for range deepest {
		t = t.Strip()
		if t.Arguments != nil {
			if all := t.Arguments(); n < len(all) {
				return all[n]
			}
		}
		fields := t.Fields()
		if len(fields) == 0 || !fields[0].Base {
			break
		}
		t = fields[0].Type
	}
	panic(missing("argument"))
}
