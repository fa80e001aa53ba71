package symbol

import (
	"debug/dwarf"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// block is a scope that has code: a function, an inlined copy of one, or a compound statement with names of its own. Those
// without names are none, as in GDB, which has one location for a line in each block.
type block struct {
	ranges   []debuginfo.Range // as the file has them; the code begins at the first
	outer    *block
	function *function // nil for a compound statement
}

// function is a function or an inlined copy of one.
type function struct {
	entry   *debuginfo.Entry
	name    string // qualified, with parameters if it is C++
	inlined bool
}

// begin is where the code of a block begins: the first piece in the order of the file, which is not always the lowest.
func (b *block) begin() arch.Addr { return b.ranges[0].Begin }

// high is the end of all code of a block.
func (b *block) high() arch.Addr {
	var high arch.Addr
	for _, r := range b.ranges {
		high = max(high, r.End)
	}
	return high
}

// piece returns the range that an address is in.
func (b *block) piece(pc arch.Addr) debuginfo.Range {
	for _, r := range b.ranges {
		if r.Has(pc) {
			return r
		}
	}
	return debuginfo.Range{}
}

// within reports whether two addresses are in the same piece of a block's code.
func (b *block) within(pc, other arch.Addr) bool { return b.piece(pc).Has(other) }

// has reports whether an address is in the code of a block, in whichever piece: the compiler may have moved cold code away.
func (b *block) has(pc arch.Addr) bool {
	for _, r := range b.ranges {
		if r.Has(pc) {
			return true
		}
	}
	return false
}

// linkage returns the function that a block is part of, whatever was inlined into it.
func (b *block) linkage() *block {
	for ; b != nil; b = b.outer {
		if b.function != nil && !b.function.inlined {
			return b
		}
	}
	return nil
}

// nearest returns the innermost function around a block, inlined or not.
func (b *block) nearest() *block {
	for ; b != nil; b = b.outer {
		if b.function != nil {
			return b
		}
	}
	return nil
}

// blockReader makes the blocks of a unit out of its DIEs.
type blockReader struct {
	file   *debuginfo.File
	unit   *unit
	blocks []*block // inner ones first
	listed bool     // a variable has a list of locations
}

// deepest is how deep scopes may be nested; damaged files have any depth.
const deepest = 256

// read visits the children of a DIE and returns how many names they declare in the scope that it is. Blocks are appended to inner
// as children of whatever block the caller makes around them.
func (r *blockReader) read(e *debuginfo.Entry, inner *[]*block, depth int) int {
	names := 0
	if depth > deepest {
		return 0
	}
	for child := range r.file.Children(e) {
		switch child.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			r.readFunction(child, inner, depth)
		case dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
			names += r.readCompound(child, inner, depth)
		// What a namespace declares is visible in the whole unit; it makes no scope that has code.
		case dwarf.TagNamespace, dwarf.TagModule:
			r.read(child, inner, depth+1)
		// Methods are nested in their class. Their names count for the class, the name of the class for the scope around it.
		case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType, dwarf.TagEnumerationType:
			r.read(child, inner, depth+1)
			names += r.declares(child)
		default:
			names += r.declares(child)
		}
	}
	return names
}

// readFunction reads a function or an inlined copy with code. GDB makes no block of an inlined copy without a call site: the
// compiler has made it of code that it moved, and nothing called it there.
func (r *blockReader) readFunction(e *debuginfo.Entry, inner *[]*block, depth int) {
	ranges := r.file.Ranges(e)
	if len(ranges) == 0 {
		return
	}
	inlined := e.Tag == dwarf.TagInlinedSubroutine
	if inlined && (!e.Has(dwarf.AttrCallLine) || !e.Has(dwarf.AttrCallFile)) {
		return
	}
	b := &block{ranges: ranges, function: &function{entry: e, inlined: inlined}}
	var within []*block
	r.read(e, &within, depth+1)
	r.finish(b, within, inner)
}

// readCompound reads a compound statement. One without names is none, and so is one without code, whose names belong to
// what is around it.
func (r *blockReader) readCompound(e *debuginfo.Entry, inner *[]*block, depth int) int {
	ranges := r.file.Ranges(e)
	if len(ranges) == 0 {
		if e.Has(dwarf.AttrLowpc) || e.Has(dwarf.AttrRanges) {
			return 0
		}
		return r.read(e, inner, depth+1)
	}
	var within []*block
	names := r.read(e, &within, depth+1)
	// A concrete instance may leave out variables that the optimiser has removed. GDB counts those of the abstract instance, for it
	// shows them as optimised out.
	if names == 0 {
		if origin := r.file.Origin(e); origin != nil {
			names = r.abstractNames(origin, depth)
		}
	}
	// Without a name of its own the statement is part of the scope around it, and so are the scopes within.
	if names == 0 {
		*inner = append(*inner, within...)
		return 0
	}
	r.finish(&block{ranges: ranges}, within, inner)
	return 0
}

// finish adds a block behind those within it: inner ones come first in the list, which makes the search for the innermost one easy.
func (r *blockReader) finish(b *block, within []*block, inner *[]*block) {
	for _, child := range within {
		child.outer = b
	}
	r.blocks = append(r.blocks, b)
	*inner = append(*inner, b)
}

// abstractNames returns how many names a compound statement of an abstract instance declares; concrete ones have them too.
func (r *blockReader) abstractNames(e *debuginfo.Entry, depth int) int {
	names := 0
	if depth > deepest {
		return 0
	}
	for child := range r.file.Children(e) {
		// GDB does not look into statements within this one either.
		if child.Tag != dwarf.TagLexDwarfBlock {
			names += r.declares(child)
		}
	}
	return names
}

// declares returns 1 if a DIE is that of a name in the scope around it.
func (r *blockReader) declares(e *debuginfo.Entry) int {
	switch e.Tag {
	case dwarf.TagImportedModule, dwarf.TagImportedDeclaration:
		return 1
	case dwarf.TagFormalParameter, dwarf.TagVariable, dwarf.TagConstant:
		r.noteList(e)
		if r.file.Name(e) == "" || e.Tag == dwarf.TagVariable && r.isElsewhere(e) {
			return 0
		}
		return 1
	case dwarf.TagLabel, dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType,
		dwarf.TagEnumerationType, dwarf.TagInterfaceType, dwarf.TagSubrangeType:
		if r.file.Name(e) != "" && !e.Bool(dwarf.AttrDeclaration) {
			return 1
		}
	}
	return 0
}

// isElsewhere reports whether a variable is a mere declaration of what GDB does not look for by its name.
func (r *blockReader) isElsewhere(e *debuginfo.Entry) bool {
	if _, ok := r.file.Lookup(e, dwarf.AttrLocation); ok {
		return false
	}
	if _, ok := r.file.Lookup(e, dwarf.AttrConstValue); ok {
		return false
	}
	return e.Bool(dwarf.AttrDeclaration) && !e.Bool(dwarf.AttrExternal)
}

// noteList notes that a variable has a list of locations, which tells whether the compiler describes variables in prologues, too.
func (r *blockReader) noteList(e *debuginfo.Entry) {
	if v, ok := e.Value(dwarf.AttrLocation); ok && (v.Class == debuginfo.ClassSection || v.Class == debuginfo.ClassListIndex) {
		r.listed = true
	}
}
