package ctype

import (
	"debug/dwarf"
	"slices"
	"sync"

	"tracewell/arch"
)

// Program is what the debugging information of a program says of types and variables. It is read as it is asked for; several
// goroutines may ask. A nil *Program knows nothing.
//
// What is not understood is not there: variables that move about, types of other languages than C and C++.
type Program struct {
	data      *dwarf.Data
	mu        sync.Locker // guards data and all below
	bigEndian bool

	indexed   bool
	globals   map[string]global
	names     []string // of the globals, in the order of the file
	types     map[string]dwarf.Offset
	constants map[string]int64
	converted map[dwarf.Type]*Type
}

// global is a variable with a fixed address.
type global struct {
	addr arch.Addr
	typ  dwarf.Offset
	many bool // several have the name
}

// Local is a variable of a function.
type Local struct {
	Name   string
	Type   *Type
	Place  Place
	Offset int64     // InFrame: from the frame base, which is the CFA in what GCC and Clang make
	Addr   arch.Addr // Static
}

// Place says where a variable of a function lies.
type Place uint8

// The places.
const (
	Elsewhere Place = iota // in a register, now here and now there, or nowhere
	InFrame
	Static
)

// Read returns what debugging information says, of a target that is big endian or not. The lock is held while data is used,
// which its type does not allow to two goroutines at a time.
func Read(data *dwarf.Data, lock sync.Locker, bigEndian bool) *Program {
	return &Program{data: data, mu: lock, bigEndian: bigEndian}
}

// Global finds a variable with a fixed address, as the file has it, by name; false if there is none or more than one.
func (p *Program) Global(name string) (arch.Addr, *Type, bool) {
	if p == nil {
		return 0, nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index()
	g, ok := p.globals[name]
	if !ok || g.many {
		return 0, nil, false
	}
	typ := p.typeAt(g.typ)
	return g.addr, typ, typ.Size > 0
}

// Globals lists the names of the variables with a fixed address.
func (p *Program) Globals() []string {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index()
	return slices.Clone(p.names)
}

// Named finds a type: "struct job", "enum kind", "queue_t".
func (p *Program) Named(name string) (*Type, bool) {
	if p == nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index()
	offset, ok := p.types[name]
	if !ok {
		return nil, false
	}
	return p.typeAt(offset), true
}

// Constant finds an enumerator; false if there is none.
func (p *Program) Constant(name string) (int64, bool) {
	if p == nil {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index()
	value, ok := p.constants[name]
	return value, ok
}

// mostEmpty bounds how many entries may follow one another that end nothing: at the end of damaged debugging information
// debug/dwarf reads the same one for ever.
const mostEmpty = 1 << 16

// index goes through the debugging information for names, once.
func (p *Program) index() {
	if p.indexed {
		return
	}
	p.indexed = true
	p.globals, p.types, p.constants = make(map[string]global), make(map[string]dwarf.Offset), make(map[string]int64)
	r := p.data.Reader()
	var scopes []string // of C++, from the outside
	for empty := 0; empty < mostEmpty; {
		entry, err := r.Next()
		switch {
		case entry == nil || err != nil:
			return
		case entry.Tag == 0:
			empty++
			scopes = scopes[:max(len(scopes)-1, 0)]
			continue
		case entry.Tag == dwarf.TagCompileUnit:
			empty, scopes = 0, scopes[:0]
			if entry.Children {
				scopes = append(scopes, "")
			}
			continue
		}
		empty = 0
		prefix := ""
		if len(scopes) > 0 {
			prefix = scopes[len(scopes)-1]
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if entry.Tag == dwarf.TagNamespace && entry.Children {
			scopes = append(scopes, prefix+name+"::")
			continue
		}
		p.note(entry, prefix+name, r)
	}
}

// tags begin the names of types that have a tag in C.
var tags = map[dwarf.Tag]string{
	dwarf.TagStructType: "struct ", dwarf.TagUnionType: "union ", dwarf.TagEnumerationType: "enum ",
	dwarf.TagTypedef: "", dwarf.TagBaseType: "",
}

// note takes in what stands outside functions, and passes over what is within it.
func (p *Program) note(entry *dwarf.Entry, name string, r *dwarf.Reader) {
	tag, isType := tags[entry.Tag]
	declared, _ := entry.Val(dwarf.AttrDeclaration).(bool)
	switch {
	case entry.Tag == dwarf.TagVariable && name != "":
		p.noteGlobal(entry, name)
	case isType && name != "" && !declared:
		p.types[tag+name] = entry.Offset
	}
	if entry.Tag == dwarf.TagEnumerationType && entry.Children {
		p.noteConstants(r)
		return
	}
	if entry.Children {
		r.SkipChildren()
	}
}

func (p *Program) noteGlobal(entry *dwarf.Entry, name string) {
	location, _ := entry.Val(dwarf.AttrLocation).([]byte)
	typ, typed := entry.Val(dwarf.AttrType).(dwarf.Offset)
	size := len(location) - 1
	if !typed || size != 4 && size != 8 || location[0] != opAddr {
		return
	}
	g := global{addr: arch.Addr(p.integer(location[1:])), typ: typ}
	if known, ok := p.globals[name]; ok {
		g.many = known.many || known.addr != g.addr
	} else {
		p.names = append(p.names, name)
	}
	p.globals[name] = g
}

// noteConstants reads the enumerators of an enumeration.
func (p *Program) noteConstants(r *dwarf.Reader) {
	for {
		entry, err := r.Next()
		if err != nil || entry == nil || entry.Tag == 0 {
			return
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if value, ok := entry.Val(dwarf.AttrConstValue).(int64); ok && name != "" {
			p.constants[name] = value
		}
	}
}

// The operators of location expressions that are understood.
const (
	opAddr  = 0x03 // an address follows
	opFbreg = 0x91 // a signed LEB128 number follows: the distance from the frame base
)

func (p *Program) integer(b []byte) (n uint64) {
	for i := range b {
		if p.bigEndian {
			n = n<<8 | uint64(b[i])
		} else {
			n |= uint64(b[i]) << (8 * i)
		}
	}
	return n
}

// Locals returns the parameters and variables that are in scope at an address of the file, but for those of which a block
// within has another of the name.
func (p *Program) Locals(pc arch.Addr) []Local {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.data.Reader()
	if _, err := r.SeekPC(uint64(pc)); err != nil {
		return nil
	}
	var found []Local
	depth, function := 0, 0 // of the entries around, and of the innermost function's children
	for {
		entry, err := r.Next()
		switch {
		case err != nil || entry == nil || entry.Tag == dwarf.TagCompileUnit:
			return found
		case entry.Tag == 0:
			if depth--; depth < function || depth < 0 {
				return found
			}
			continue
		case function > 0 && (entry.Tag == dwarf.TagFormalParameter || entry.Tag == dwarf.TagVariable):
			if local, ok := p.local(entry); ok {
				found = slices.DeleteFunc(found, func(l Local) bool { return l.Name == local.Name })
				found = append(found, local)
			}
		}
		inside := entry.Tag == dwarf.TagNamespace || blocks[entry.Tag] && p.holds(entry, pc)
		if inside && functions[entry.Tag] {
			found, function = found[:0], depth+1
		}
		switch {
		case entry.Children && inside:
			depth++
		case entry.Children:
			r.SkipChildren()
		}
	}
}

// functions and blocks are the entries that have code.
var (
	functions = map[dwarf.Tag]bool{dwarf.TagSubprogram: true, dwarf.TagInlinedSubroutine: true}
	blocks    = map[dwarf.Tag]bool{dwarf.TagSubprogram: true, dwarf.TagInlinedSubroutine: true, dwarf.TagLexDwarfBlock: true}
)

func (p *Program) holds(entry *dwarf.Entry, pc arch.Addr) bool {
	ranges, err := p.data.Ranges(entry)
	return err == nil && slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= uint64(pc) && uint64(pc) < r[1] })
}

// local reads a variable of a function. That of an inlined function has its name elsewhere.
func (p *Program) local(entry *dwarf.Entry) (l Local, ok bool) {
	location, _ := entry.Val(dwarf.AttrLocation).([]byte)
	if len(location) > 1 {
		p.place(&l, location[0], location[1:])
	}
	if origin, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		r := p.data.Reader()
		r.Seek(origin)
		var err error
		if entry, err = r.Next(); err != nil || entry == nil {
			return Local{}, false
		}
	}
	declared, _ := entry.Val(dwarf.AttrDeclaration).(bool)
	name, _ := entry.Val(dwarf.AttrName).(string)
	typ, typed := entry.Val(dwarf.AttrType).(dwarf.Offset)
	if name == "" || !typed || declared {
		return Local{}, false
	}
	l.Name, l.Type = name, p.typeAt(typ)
	return l, true
}

// place reads a location of one operator.
func (p *Program) place(l *Local, operator byte, operand []byte) {
	switch size := len(operand); {
	case operator == opFbreg:
		if offset, rest := signed(operand); len(rest) == 0 {
			l.Place, l.Offset = InFrame, offset
		}
	case operator == opAddr && (size == 4 || size == 8):
		l.Place, l.Addr = Static, arch.Addr(p.integer(operand))
	}
}

// signed reads a signed LEB128 number.
func signed(b []byte) (n int64, rest []byte) {
	for i, c := range b {
		n |= int64(c&0x7f) << (7 * min(i, 9))
		if c&0x80 == 0 {
			if c&0x40 != 0 && i < 9 {
				n |= -1 << (7 * (i + 1))
			}
			return n, b[i+1:]
		}
	}
	return n, nil
}
