package scope

import (
	"debug/dwarf"
	"fmt"

	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

// What DW_AT_calling_convention says of a class (DWARF 5, 7.15), and DW_AT_defaulted of a member function (7.31).
const (
	passedByReference = 0x04 // DW_CC_pass_by_reference
	passedByValue     = 0x05 // DW_CC_pass_by_value
	defaultedInClass  = 0x01 // DW_DEFAULTED_in_class: not provided by the user
)

// The attributes of DWARF 5 that debug/dwarf has no names for in all versions.
const (
	attrDefaulted dwarf.Attr = 0x8b
	attrDeleted   dwarf.Attr = 0x8a
)

// byReference reports whether functions return a class in memory because it cannot be copied byte by byte: it has a copy or move
// constructor or a destructor that does something, or no way to be copied at all (Itanium C++ ABI, 1.1, "non-trivial for the
// purposes of calls"). Clang says so of each class. GCC does not, and leaves it to be read off the member functions.
func (s *types) byReference(e *debuginfo.Entry, t *ctype.Type, depth int) (bool, error) {
	if convention, ok := e.Unsigned(dwarf.AttrCalling); ok {
		return convention == passedByReference, conventionError(convention)
	}
	if depth == 0 {
		return false, errDamaged
	}
	// Virtual functions and virtual base classes make the copying of an object more than that of its bytes; so does any part of which
	// that is true.
	copies, deleted := 0, 0 // constructors that copy or move
	for child := range s.file.Children(e) {
		switch child.Tag {
		case dwarf.TagInheritance, dwarf.TagMember:
			if _, static := child.Unsigned(dwarf.AttrConstValue); static || child.Bool(dwarf.AttrExternal) {
				continue
			}
			if child.Has(dwarf.AttrVirtuality) {
				return true, nil
			}
			inMemory, err := s.partByReference(child, depth)
			if inMemory || err != nil {
				return inMemory, err
			}
		case dwarf.TagSubprogram:
			if child.Has(dwarf.AttrVirtuality) {
				return true, nil
			}
			destroys, copy := child.Name() == "~"+bareName(e), s.copies(child, e)
			if !destroys && !copy {
				continue
			}
			// What the user has defaulted in the class, and what the compiler has made, does no more than the parts do, which are
			// asked for themselves. What is defaulted outside of the class counts as the user's own.
			how, _ := child.Unsigned(attrDefaulted)
			switch {
			case child.Bool(attrDeleted) && copy:
				deleted++
			case how != defaultedInClass && !child.Bool(dwarf.AttrArtificial):
				return true, nil
			case copy:
				copies++
			}
		}
	}
	if deleted > 0 && copies == 0 {
		// GCC describes no constructor that nobody has declared, unless it was needed.
		// A constructor that is not mentioned may be there, implicitly, or not: the language has rules for it that depend on all.
		return false, fmt.Errorf("whether %s is returned in registers is not certain", t)
	}
	return false, nil
}

// conventionError refuses a convention that says neither.
func conventionError(convention uint64) error {
	if convention != passedByReference && convention != passedByValue {
		return fmt.Errorf("a class has a calling convention that is not known, %d", convention)
	}
	return nil
}

// partByReference reports whether a base class or a member is what byReference looks for. An array is as its elements are.
func (s *types) partByReference(part *debuginfo.Entry, depth int) (bool, error) {
	off, ok := part.Ref(dwarf.AttrType)
	for range deepest {
		if !ok {
			return false, nil
		}
		e, err := s.file.Entry(off)
		if err != nil {
			return false, err
		}
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			if e.Bool(dwarf.AttrDeclaration) {
				return false, fmt.Errorf("%s is only declared, so whether it can be copied in registers is not known", e.Name())
			}
			return s.byReference(e, s.at(e.Offset), depth-1)
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagArrayType:
			off, ok = e.Ref(dwarf.AttrType)
		default:
			return false, nil
		}
	}
	return false, errDamaged
}

// copies reports whether a member function is a copy or move constructor: one whose first argument behind this is a reference to
// the class, and whose others have defaults, which DWARF does not tell. A template is none, so its arguments in the name count.
func (s *types) copies(method, class *debuginfo.Entry) bool {
	if method.Name() != bareName(class) {
		return false
	}
	// The object itself is an artificial parameter, as is the table of virtual base classes that some constructors are given.
	var params []*debuginfo.Entry
	for child := range s.file.Children(method) {
		if child.Tag == dwarf.TagFormalParameter && !child.Bool(dwarf.AttrArtificial) {
			params = append(params, child)
		}
	}
	if len(params) == 0 {
		return false
	}
	off, ok := params[0].Ref(dwarf.AttrType)
	if !ok {
		return false
	}
	e, err := s.file.Entry(off)
	if err != nil || e.Tag != dwarf.TagReferenceType && e.Tag != dwarf.TagRvalueReferenceType {
		return false
	}
	// Behind the reference may be const or volatile, and then must be the class itself: a reference to another type converts.
	for range deepest {
		if off, ok = e.Ref(dwarf.AttrType); !ok {
			return false
		}
		if e, err = s.file.Entry(off); err != nil || e.Tag != dwarf.TagConstType && e.Tag != dwarf.TagVolatileType {
			return err == nil && e.Offset == class.Offset
		}
	}
	return false
}

// bareName is the name of a class as its constructors have it, without the arguments of a template.
func bareName(class *debuginfo.Entry) string {
	name := class.Name()
	for i := range len(name) {
		if name[i] == '<' {
			return name[:i]
		}
	}
	return name
}
