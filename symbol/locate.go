package symbol

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/internal/demangle"
	"tracewell/symbol/debuginfo"
)

// Locate finds the places that a location names, in all objects, by address. It takes what GDB's break takes:
//
//	FUNCTION  FILE:FUNCTION  FUNCTION:LABEL           behind the prologue
//	PATTERN  FILE:PATTERN                             all functions of the executable, or of a source file, that match
//	OBJECT:FUNCTION  OBJECT:PATTERN                   those of one file of the program: libc:malloc, libc.so.6:str*
//	OBJECT:0xADDRESS                                  an address in a file of the program, as objdump prints it
//	FILE:LINE  LINE                                   the next line that has code; without FILE, that of main
//	*ADDRESS  *FUNCTION+BYTES  FUNCTION+BYTES         the very address
//	-function F -line N -source FILE -label L -qualified
//	-probe [PROVIDER:]NAME  -probe-stap  -pstap       static tracepoints
//	plt:NAME  plt:PATTERN  OBJECT:plt:NAME            calls from the executable, or another file, into other files
//	syscall:NAME  syscall:PATTERN                     system calls, by the addresses that stand for their entries (trace.CallAddr)
//
// A pattern has * and ? in it, or is a regular expression between slashes: /^(un)?lock/. The location *NAME is an address.
//
// A file may be given by the end of its path, a function by the end of its qualified name (after -qualified only by the
// whole), with the types of its parameters or without, which takes all overloads. All instances of a template and all inlined
// copies count. The error is a *SyntaxError or a *NotFoundError.
func (p *Program) Locate(text string) ([]Location, error) {
	if name, ok := strings.CutPrefix(text, callPrefix); ok {
		return p.locateCalls(text, name)
	}
	if object, name, ok := cutImport(text); ok {
		return p.locateImports(text, object, name)
	}
	s, err := parseSpec(text)
	if err != nil {
		return nil, err
	}
	var found []Location
	switch {
	case s.address != "":
		return p.locateAddress(s)
	case s.probe != "":
		found, err = p.locateProbe(s)
	case s.colon != "":
		found, err = p.locateColon(s)
	case s.pattern:
		found, err = p.locatePattern(s, p.Objects()[:1])
	case s.function != "":
		found, err = p.locateFunction(s)
	default:
		found, err = p.locateLine(s)
	}
	return arranged(found), err
}

// arranged sorts locations by address, one for each.
func arranged(found []Location) []Location {
	slices.SortStableFunc(found, func(a, b Location) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(found, func(a, b Location) bool { return a.Addr == b.Addr && a.Probe == b.Probe })
}

// place is an address of a file, not yet of the process, and the unit that has its lines.
type place struct {
	object *Object
	unit   *unit // nil without debug information
	addr   arch.Addr
}

// locations describes places, in the addresses of the process.
func (p *Program) locations(places []place) []Location {
	var found []Location
	for _, at := range places {
		found = append(found, at.object.describe(at.addr))
	}
	return found
}

// locateColon resolves what stands before a colon: a source file, or else a function with a label, in GDB's order, or else a file
// of the program, which GDB does not know.
func (p *Program) locateColon(s *spec) ([]Location, error) {
	name := s.colon
	// A number is neither a function nor a label. All names of all files need not be looked through, which takes milliseconds a
	// location; a script may have thousands of addresses.
	if _, number := s.numeral(); number {
		objects := p.named(name)
		if len(objects) == 0 {
			return nil, p.noObject(s, name)
		}
		return p.locateWithin(s, objects)
	}
	if p.hasFile(name) {
		if s.file = name; s.pattern {
			return p.locatePattern(s, p.Objects())
		}
		return p.locateFunction(s)
	}
	// No file has that name, so FUNCTION:LABEL is left. The error speaks of the file all the same, which is what people mistype.
	labelled := *s
	labelled.label, labelled.function = s.function, name
	switch objects := p.named(name); {
	case len(p.functionPlaces(&labelled)) > 0:
		return p.locateFunction(&labelled)
	case len(objects) > 0:
		return p.locateWithin(s, objects)
	}
	return nil, p.noFile(s, name)
}

// locateFunction finds a function, or a label in one. The errors name what comes nearest, since a name that is mistyped is by far
// the most frequent reason.
func (p *Program) locateFunction(s *spec) ([]Location, error) {
	if s.file != "" && !p.hasFile(s.file) {
		return nil, p.noFile(s, s.file)
	}
	blocks := p.functionPlaces(s)
	if len(blocks) == 0 {
		return nil, p.noFunction(s)
	}
	var found []Location
	// The same function may be found by its debug information and by its symbol; arranged leaves one location for each address.
	for _, b := range blocks {
		for _, l := range p.locations(b.places(s)) {
			l.Copy = b.block != nil && b.block.function.inlined
			found = append(found, l)
		}
	}
	if len(found) == 0 && s.label != "" {
		return nil, &NotFoundError{Spec: s.text, Kind: LabelName, Name: s.label, Within: s.function, Nearest: labels(blocks, s.label)}
	}
	if len(found) == 0 { // bytes behind the beginning of copies
		return nil, p.noFunction(s)
	}
	return found, nil
}

// hasFile reports whether some unit has code or declarations of a file, given by the end of its path.
func (p *Program) hasFile(file string) bool {
	for _, o := range p.Objects() {
		for _, u := range o.file.Units() {
			if o.unit(u).hasFile(file) {
				return true
			}
		}
	}
	return false
}

func (u *unit) hasFile(file string) bool {
	return slices.ContainsFunc(u.Lines().Files, func(path string) bool { return debuginfo.SamePath(file, path) })
}

// locateLine finds a line: each statement that it begins, or that of the next line with code, one for each block.
func (p *Program) locateLine(s *spec) ([]Location, error) {
	file := s.file
	// A line alone is one of the file of main, as in GDB before it has stopped anywhere.
	if file == "" {
		if file = p.Main().main(); file == "" {
			return nil, &NotFoundError{Spec: s.text, Kind: FileName, Name: "of main", Note: "the program has no debug information"}
		}
	}
	if !p.hasFile(file) {
		return nil, p.noFile(s, file)
	}
	// Lines of all units count together: another unit may have code for a line that this one lacks.
	places, next := p.statements(file, s.line)
	// A comment, a declaration or a brace has no code. GDB moves a breakpoint there to the next line that has some.
	if len(places) == 0 && next > 0 {
		places, _ = p.statements(file, next)
	}
	if len(places) == 0 {
		return nil, p.noLine(s, file)
	}
	return p.locations(onePerBlock(places)), nil
}

// statements returns where a line of a file begins, and the next line that has code.
func (p *Program) statements(file string, line int) (places []place, next int) {
	// A header has lines in every unit that includes it, each with code of its own.
	for at, t := range p.tablesOf(file) {
		exact, above := t.exact(line)
		for _, addr := range exact {
			places = append(places, place{at.object, at.unit, addr})
		}
		if above > 0 && (next == 0 || above < next) {
			next = above
		}
	}
	return places, next
}

// objectUnit is a unit of an object.
type objectUnit struct {
	object *Object
	unit   *unit
}

// tablesOf yields the lines of a source file, in every unit that has some.
func (p *Program) tablesOf(file string) iter.Seq2[objectUnit, *fileTable] {
	return func(yield func(objectUnit, *fileTable) bool) {
		for _, o := range p.Objects() {
			for _, raw := range o.file.Units() {
				u := o.unit(raw)
				if !u.hasFile(file) {
					continue
				}
				for _, t := range u.tables() {
					if debuginfo.SamePath(file, t.path) && !yield(objectUnit{o, u}, t) {
						return
					}
				}
			}
		}
	}
}

// onePerBlock keeps the first place of each block, behind the prologue if it is in one. Code of a line may be in several
// pieces; those of one block are passed one after the other.
func onePerBlock(places []place) []place {
	seen := map[*block]bool{}
	var kept []place
	for _, at := range places {
		b := at.unit.blockAt(at.addr)
		// A loop's condition is compiled in front of the loop and behind it, for instance: two pieces of one statement, and GDB sets
		// one breakpoint. Copies in different blocks are different: inlined calls, instances of a template.
		if b != nil && seen[b] {
			continue
		}
		seen[b] = true
		at.addr = at.unit.skip(at.object, at.addr)
		kept = append(kept, at)
	}
	return kept
}

// At says what is known of an address of the process.
func (p *Program) At(addr arch.Addr) Location {
	for _, o := range p.Objects() {
		if l := o.describe(addr - o.bias); l.Function != "" || l.File != "" {
			return l
		}
	}
	return Location{Addr: addr}
}

// describe says what is known of an address of the file.
func (o *Object) describe(pc arch.Addr) Location {
	l := Location{Addr: pc + o.bias, Object: o, Resolver: o.symbols().resolve(pc), Import: o.stubAt(pc)}
	if l.Import != "" {
		l.Function = l.Import + stubSuffix
		return l
	}
	if u := o.unitAt(pc); u != nil {
		if s := u.spanAt(pc); s.table != nil {
			l.File, l.Line = given(s.table.path, u.Unit), s.line
		}
		// The function is the innermost one, inlined or not, since that is what the reader sees in the source. The offset counts from
		// the function that contains the code, as the disassembly does.
		b := u.blockAt(pc)
		if in := b.nearest(); in != nil {
			l.Function, l.Inlined = u.wholeName(in, o.symbols()), in.function.inlined
			l.Copy = l.Inlined
			l.Offset = uint64(pc - b.linkageBegin(pc))
			return l
		}
	}
	if s, offset, ok := o.symbols().covering(pc); ok {
		l.Function, l.Offset = demangle.Plain(s.Title()), offset
	}
	return l
}

// linkageBegin is where the function around pc begins, pc itself outside of functions.
func (b *block) linkageBegin(pc arch.Addr) arch.Addr {
	if f := b.linkage(); f != nil {
		return f.begin()
	}
	return pc
}

// Describe names an address as GDB does, "push+95" or "push"; empty if it lies in no function or object.
func (p *Program) Describe(addr arch.Addr) string {
	if o := p.ObjectAt(addr); o != nil {
		if called := o.stubAt(addr - o.bias); called != "" {
			return called + stubSuffix
		}
	}
	_, s, offset := p.covering(addr)
	if s == nil {
		return ""
	}
	name := demangle.Plain(s.Title())
	if !isFunction(s) {
		name = demangle.Object(s.Title())
	}
	if offset == 0 {
		return name
	}
	return name + "+" + strconv.FormatUint(offset, 10)
}

// Line returns the source line of the code at an address, and false if nothing is known of it.
func (p *Program) Line(addr arch.Addr) (Line, bool) {
	for _, o := range p.Objects() {
		pc := addr - o.bias
		if u := o.unitAt(pc); u != nil {
			if s := u.spanAt(pc); s.table != nil {
				return Line{given(s.table.path, u.Unit), s.line}, true
			}
		}
	}
	return Line{}, false
}
