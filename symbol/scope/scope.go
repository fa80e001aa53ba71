package scope

import (
	"debug/dwarf"
	"errors"
	"slices"

	"tracewell/arch"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// Scope is what names mean at a pc. It is an expr.Scope. It is cheap to make and holds no lock: blocks and types are read from the
// Image, which keeps them.
type Scope struct {
	image    *Image
	pc       arch.Addr // of the file
	unit     *debuginfo.Unit
	function *debuginfo.Entry   // with the code at the pc, nil outside of any
	inner    *debuginfo.Entry   // the innermost function at the pc, which may be inlined into the other
	blocks   []*debuginfo.Entry // of the inner function, from the inside
	around   []*debuginfo.Entry // the same of the function, from the outside: what they import counts in inlined functions, too
	frame    *frame
	entered  bool // see Entered
}

var _ expr.Scope = (*Scope)(nil)

// At returns what names mean at a pc of the running program.
func (m *Image) At(pc arch.Addr) *Scope {
	s := &Scope{image: m, pc: pc - m.bias}
	s.unit = m.file.UnitAt(s.pc)
	if s.function = m.file.FunctionAt(s.pc); s.function != nil {
		s.unit = s.function.Unit
		s.inner = s.function
		s.enter(s.function, 0)
		slices.Reverse(s.blocks)
	}
	s.frame = m.frame(s.unit, s.function, s.pc)
	return s
}

// enter finds the blocks that the pc is in, from a block inward. At most one block of a level has the pc. What lies around an
// inlined function is not in scope within it, so that the blocks of GDB end there, too.
func (s *Scope) enter(block *debuginfo.Entry, depth int) {
	s.blocks, s.around = append(s.blocks, block), append(s.around, block)
	if depth == deepest {
		return
	}
	for child := range s.image.file.Children(block) {
		inlined := child.Tag == dwarf.TagInlinedSubroutine
		if !inlined && child.Tag != dwarf.TagLexDwarfBlock {
			continue
		}
		if !slices.ContainsFunc(s.image.file.Ranges(child), func(r debuginfo.Range) bool { return r.Has(s.pc) }) {
			continue
		}
		if inlined {
			s.inner, s.blocks = child, nil
		}
		s.enter(child, depth+1)
		return
	}
}

// Entered returns what names mean to a function that has just been entered. Results of Go are no arguments then, though GDB lists
// them as such. And if the pc is where the function begins, something inlined may begin there as well, whose names would hide its
// own.
func (s *Scope) Entered() *Scope {
	entered := *s
	entered.entered = true
	if s.frame.entry && s.inner != s.function {
		entered.inner, entered.blocks = s.function, []*debuginfo.Entry{s.function}
	}
	return &entered
}

// Function is the innermost function at the pc with its name, "" outside of any.
func (s *Scope) Function() string {
	if s.inner == nil {
		return ""
	}
	return s.image.file.QualifiedName(s.inner)
}

// variables are the variables and arguments of a block: those of the concrete instance, which have locations, then those that only
// the abstract instance has. Compilers leave the latter out where they optimized them out; GDB lists them as such.
func (s *Scope) variables(block *debuginfo.Entry) []*debuginfo.Entry {
	var found []*debuginfo.Entry
	s.collect(block, nil, &found, 0)
	if origin, ok := block.Ref(dwarf.AttrAbstractOrigin); ok {
		if abstract, err := s.image.file.Entry(origin); err == nil {
			seen := make(map[debuginfo.Offset]bool)
			s.origins(block, seen)
			s.collect(abstract, seen, &found, 0)
		}
	}
	return found
}

// codeless reports whether an entry is a block without code of its own, as those of abstract instances are. Nothing can be in
// scope there, so its names count for the block around it.
func codeless(e *debuginfo.Entry) bool {
	return e.Tag == dwarf.TagLexDwarfBlock && !e.Has(dwarf.AttrLowpc) && !e.Has(dwarf.AttrRanges)
}

// collect finds the variables of a block but for those that are known. A block in it without code is as if it were not there.
func (s *Scope) collect(block *debuginfo.Entry, known map[debuginfo.Offset]bool, found *[]*debuginfo.Entry, depth int) {
	for child := range s.image.file.Children(block) {
		if known[child.Offset] {
			continue
		}
		switch child.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter:
			*found = append(*found, child)
		case dwarf.TagLexDwarfBlock:
			if codeless(child) && depth < deepest {
				s.collect(child, known, found, depth+1)
			}
		}
	}
}

// origins marks the variables of the abstract instance that the direct children of a block are instances of.
func (s *Scope) origins(block *debuginfo.Entry, known map[debuginfo.Offset]bool) {
	for child := range s.image.file.Children(block) {
		if origin, ok := child.Ref(dwarf.AttrAbstractOrigin); ok {
			known[origin] = true
		}
	}
}

// Arguments are the names that $args stands for: of the innermost function.
func (s *Scope) Arguments() []string {
	return s.names(func(e *debuginfo.Entry) bool {
		return e.Tag == dwarf.TagFormalParameter && !(s.entered && isResult(e))
	})
}

// Locals are the names that $locals stands for: of the blocks of the innermost function at the pc.
func (s *Scope) Locals() []string {
	return s.names(func(e *debuginfo.Entry) bool { return e.Tag == dwarf.TagVariable && !e.Bool(dwarf.AttrDeclaration) })
}

// names lists the variables of the blocks that are wanted, innermost block first. A name that is hidden by another comes once.
func (s *Scope) names(wanted func(*debuginfo.Entry) bool) []string {
	var names []string
	for _, block := range s.blocks {
		for _, e := range s.variables(block) {
			if name := s.image.file.Name(e); name != "" && wanted(e) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Names lists the arguments, the variables of the function and those of the file.
func (s *Scope) Names() []string {
	names := append(s.Arguments(), s.Locals()...)
	for name := range s.image.eachVariable() {
		names = append(names, name)
	}
	return names
}

// mostNames bounds what Names lists of a file: it is for suggestions in messages.
const mostNames = 1 << 14

// eachVariable is the set of the qualified names of the file's variables.
func (m *Image) eachVariable() map[string]bool {
	names := make(map[string]bool)
	m.file.EachName(debuginfo.KindVariable, func(name string, _ debuginfo.Offset) bool {
		names[name] = true
		return len(names) < mostNames
	})
	return names
}

// Return is where the return address lies, by the unwind table at the pc, for GDB's $_ret. On machines with a link register it is
// in that until the prologue has saved it.
func (s *Scope) Return() (expr.Object, error) {
	o := expr.Object{Name: "$_ret", Type: ctype.PointerTo(ctype.Void, s.image.options.ISA.AddrSize)}
	unwound, err := s.image.file.CFA(s.pc)
	if err != nil {
		return o, err
	}
	rule, told := unwound.Registers[unwound.Return]
	isPC := s.image.registerName(unwound.Return) == s.image.options.ISA.Machine.PC
	if !isPC && (!told || rule.Kind == debuginfo.RuleSame) {
		reg, size, err := s.image.register(unwound.Return)
		if err == nil {
			o.Place = expr.Register{Num: reg, Size: size}
		}
		return o, err
	}
	if rule.Kind != debuginfo.RuleOffset {
		return o, errors.New("the return address is not in memory here")
	}
	cfa, err := s.frame.cfa()
	if err != nil {
		return o, err
	}
	o.Place = expr.Memory{Emit: cfa.plus(rule.Offset)}
	return o, nil
}

// Variable finds a trace state variable.
func (s *Scope) Variable(name string) (trace.VariableNumber, bool) {
	if find := s.image.options.Variable; find != nil {
		return find(name)
	}
	return 0, false
}

// ABI is what C leaves to the machine. On Linux, long is as wide as a pointer (ILP32 and LP64).
func (s *Scope) ABI() ctype.ABI {
	size := s.image.options.ISA.AddrSize
	return ctype.ABI{Pointer: size, Long: size}
}

// Order is the byte order of the target.
func (s *Scope) Order() arch.ByteOrder { return s.image.options.ISA.Order }

// Language is that of the unit at the pc, C without one: names are looked up and values printed by its rules.
func (s *Scope) Language() ctype.Language {
	if s.unit == nil {
		return ctype.C
	}
	return languageOf(s.unit)
}
