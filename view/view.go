package view

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"tracewell/arch"
	"tracewell/internal/jsontext"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/symbol/container"
	"tracewell/symbol/scope"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/trace"
)

// View is a trace with what its frames need to be understood.
type View struct {
	Content tfile.Content
	File    *tfile.File     // Content if that is a trace file, else nil
	Target  *tdesc.Target   // nil if the file has no description, or none that can be read
	Layout  *tdesc.Layout   // of register blocks; nil without Target
	Symbols *symbol.Program // where the program was; nil if not known

	order       arch.ByteOrder
	pc          *tdesc.Slot
	definitions []*trace.Tracepoint // in the order of the header, which may make them anew each time
	tracepoints map[trace.Number]*tracepoint
	variables   map[int32]variableName
	registers   []namedSlot
	selected    bool            // registers are those of Select
	globals     *scope.Image    // what the program's debugging information says; nil without
	program     *symbol.Program // Symbols, where expressions can be compiled for it; else nil

	// Shapes tells which values are containers, for whoever prints them.
	Shapes     container.Shapes
	threadName ThreadName               // nil where no names are known
	threads    map[int64][]tfile.Thread // names that the trace has, by threads

	once       sync.Once
	everything *collections // of collected
	pairOnce   sync.Once
	partners   partners // of allPartners

	whole   *View         // of ChosenFrom; nil if this is the whole trace
	placeIn func(int) int // there, of a frame here
}

// tracepoint is the definitions of one number: one for each location.
type tracepoint struct {
	locations []*trace.Tracepoint
	source    string
	entry     trace.Number // of the tracepoint where the function is entered, for one of returns; else 0
	paired    bool         // there is such a one of returns for this
	json      []byte       // the members of a frame's object that are the same for all of the tracepoint's
}

// namedSlot is a register with its name as the key of a JSON object.
type namedSlot struct {
	*tdesc.Slot
	key []byte
}

// variableName is the name of a trace state variable, without the $, and as the key of a JSON object.
type variableName struct {
	text    string
	key     []byte
	builtin bool
}

// New returns a view of a trace, such as a file. The program may be nil; else it names what is in frames, and its debug
// information gives what was collected its names and types. It is not changed, and stays open as long as the view is in use. One
// that can be loaded anywhere is taken to be where the file says that it was, or else tracepoints on functions or lines show it;
// if none does it is left out. The warnings say what could not be used.
func New(content tfile.Content, program *symbol.Program) (*View, []string) {
	header := content.Header()
	file, _ := content.(*tfile.File)
	v := &View{
		Content:     content,
		File:        file,
		order:       header.Order,
		tracepoints: make(map[trace.Number]*tracepoint),
		variables:   variableNames(header.Variables),
	}
	var warnings []string
	if err := v.describe(header); err != nil {
		warnings = append(warnings, err.Error())
	}
	for i := range header.Tracepoints {
		v.addTracepoint(&header.Tracepoints[i])
	}
	v.findReturns()
	v.nameThreads(tfile.Threads(header.Description))
	// Behind all locations, as the source of any of them is that of the number.
	for _, t := range v.tracepoints {
		t.json = staticMembers(t)
	}
	if err := v.place(program, header); err != nil {
		warnings = append(warnings, err.Error())
	}
	return v, warnings
}

// place finds out where the program was: from the file, or else from its tracepoints.
func (v *View) place(program *symbol.Program, header tfile.Header) (err error) {
	objects := tfile.Objects(header.Description)
	told := isFirst(program, objects)
	if told {
		v.Symbols = program.Fork()
		v.Symbols.Rebase(objects[0].Bias)
	} else if v.Symbols, err = placed(program, header.Tracepoints); v.Symbols == nil {
		return err
	}
	if machine := v.Symbols.Main().File().Arch(); !machine.Variables && v.Layout != nil {
		v.Symbols.SetLayout(v.Layout)
	}
	switch {
	// Only record writes where files were loaded. Its word counts more than what tracepoints seem to show.
	case told && v.knows(v.Symbols.Main().File().Arch()): // its libraries may be explained where it is not
		addObjects(v.Symbols, objects[1:])
	case v.explains(v.Symbols):
		addLibraries(v.Symbols, header.Tracepoints)
	default:
		return nil
	}
	// The file of that name may have been built again since the run.
	if len(objects) > 0 && isAnother(v.Symbols, header.Tracepoints) {
		v.Symbols = nil
		return errMisplaced
	}
	v.program = v.Symbols
	v.Shapes.Described = v.program.Described
	return nil
}

// describe reads the target description.
func (v *View) describe(header tfile.Header) error {
	if header.Description == "" {
		return nil
	}
	target, _, err := tdesc.Parse([]byte(header.Description), nil)
	if err != nil {
		return fmt.Errorf("registers have no names: target description: %w", err)
	}
	layout, err := target.Layout()
	if err != nil {
		return fmt.Errorf("registers have no names: %w", err)
	}
	v.Target, v.Layout = target, layout
	for i := range layout.Slots {
		slot := &layout.Slots[i]
		// Two registers of one name are legal in a description; GDB finds the first by it.
		if layout.ByName(slot.Reg.Name) == slot { // a JSON object has a key once
			v.registers = append(v.registers, namedSlot{slot, jsontext.AppendString(nil, slot.Reg.Name)})
		}
	}
	v.pc = layout.ProgramCounter()
	return nil
}

func (v *View) addTracepoint(t *trace.Tracepoint) {
	known := v.tracepoints[t.Number]
	if known == nil {
		known = &tracepoint{}
		v.tracepoints[t.Number] = known
	}
	known.locations = append(known.locations, t)
	v.definitions = append(v.definitions, t)
	if known.source == "" {
		known.source = t.Source.At
	}
}

// findReturns finds the tracepoints that are set where functions return. Their source is what GDB reads, an address; what the user
// gave stands in a comment.
func (v *View) findReturns() {
	for _, t := range v.tracepoints {
		if location, ok := plan.ParsePlace(t.locations[0].Source.Commands); ok {
			t.source = location
		}
		entry, location, ok := plan.ParseReturns(t.locations[0].Source.Commands)
		if !ok {
			continue
		}
		t.entry, t.source = entry, location+" returns"
		if at := v.tracepoints[entry]; at != nil {
			at.paired = true
		}
	}
}

// PC returns the register that is the program counter, nil if the description has none of a name that GDB knows.
func (v *View) PC() *tdesc.Slot { return v.pc }

// Source returns the location that the user gave a tracepoint, or in its place its address, or "" if it is not defined.
func (v *View) Source(n trace.Number) string {
	t := v.tracepoints[n]
	switch {
	case t == nil:
		return ""
	case t.source == "":
		return "*" + t.locations[0].Addr.String()
	}
	return t.source
}

// variableNames gives each variable its name. One whose name another has already is left without, as is one without a name.
func variableNames(definitions []trace.Variable) map[int32]variableName {
	names := make(map[int32]variableName)
	taken := make(map[string]int32)
	for _, d := range definitions {
		number := int32(d.Number)
		if owner, used := taken[d.Name]; d.Name != "" && (!used || owner == number) {
			names[number], taken[d.Name] = variableName{d.Name, jsontext.AppendString(nil, d.Name), d.Builtin}, number
		}
	}
	return names
}

// VariableName returns the name of a trace state variable without the $, and its number for one that has no name.
func (v *View) VariableName(n int32) string {
	if name, ok := v.variables[n]; ok {
		return name.text
	}
	return strconv.Itoa(int(n))
}

// IsTimestamp reports whether a trace state variable is the time of a hit, in microseconds.
func (v *View) IsTimestamp(n int32) bool {
	return n == int32(trace.Timestamp) && v.variables[n].text == trace.TimestampName
}

// TimesCalls reports whether a trace state variable is there for $took, which is what people want to know of it.
func (v *View) TimesCalls(n int32) bool {
	return n == int32(trace.Nanoseconds) && v.IsBuiltin(n) && v.returning()
}

// IsBuiltin reports whether a trace state variable is one that the target computes.
func (v *View) IsBuiltin(n int32) bool { return v.variables[n].builtin }

// Describe names an address as in "push+95"; empty without symbols, or if it is in none.
func (v *View) Describe(addr arch.Addr) string {
	if v.Symbols == nil {
		return ""
	}
	return v.Symbols.Describe(addr)
}

// Registers returns the registers of the target, or those that were selected.
func (v *View) Registers() []*tdesc.Slot {
	slots := make([]*tdesc.Slot, len(v.registers))
	for i, r := range v.registers {
		slots[i] = r.Slot
	}
	return slots
}

// Select limits the registers of frames, Registers and AppendJSON, to those named, in the order given.
func (v *View) Select(names []string) error {
	slots, err := v.Slots(names)
	if err != nil {
		return err
	}
	v.registers, v.selected = v.registers[:0], true
	for _, slot := range slots {
		v.registers = append(v.registers, namedSlot{slot, jsontext.AppendString(nil, slot.Reg.Name)})
	}
	return nil
}

// Slots finds registers by name.
func (v *View) Slots(names []string) ([]*tdesc.Slot, error) {
	var slots []*tdesc.Slot
	for _, name := range names {
		if v.Layout == nil {
			return nil, fmt.Errorf("no register %q: the file has no target description to name registers by", name)
		}
		slot := v.Layout.ByName(name)
		if slot == nil {
			return nil, fmt.Errorf("no register %q in the file's target description", name)
		}
		if !slices.Contains(slots, slot) {
			slots = append(slots, slot)
		}
	}
	return slots, nil
}
