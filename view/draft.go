package view

import (
	"encoding/hex"
	"strconv"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// draft is an action on its way to become an item.
// First it has what the bytes of the action tell; pair and nameLocal then find its name, and View.named makes items of
// it.
type draft struct {
	source source
	name   string // what the user wrote, "" if that is not certain
	text   string // what the action says
	shape  shape

	access   frameAccess
	accesses bool // there is one
}

// drafts makes a draft of each action that collects memory, a variable or a result, in the order of the actions. Code that
// collects nothing, of a teval command, has one without a text.
// R actions make none: registers have their own items, and what is needed to find a variable is no thing that a user
// asked for.
func (v *View) drafts(actions []trace.Action) []*draft {
	var drafts []*draft
	for _, action := range actions {
		switch action.Kind {
		case trace.CollectMemory:
			drafts = append(drafts, v.memoryDraft(action))
		case trace.CollectExpression:
			drafts = append(drafts, v.codeDraft(action.Code))
		}
	}
	return drafts
}

func (v *View) memoryDraft(action trace.Action) *draft {
	d := &draft{
		source: source{kind: sourceMemory, size: action.Length, addr: arch.Addr(action.Offset)},
		shape:  shape{memory: true, plain: true, records: true},
	}
	place := d.source.addr.String()
	if action.Base != trace.Absolute {
		if v.Layout != nil {
			d.source.base = v.Layout.ByNumber(action.Base)
		}
		// A file without a description, or with a description that does not have the number: the value may well be in
		// the frame.
		if d.source.base == nil {
			d.source.kind = sourceRegister // of a register that nobody knows: never there
		}
		place = offsetText(v.registerName(action.Base), int64(action.Offset))
	}
	d.text = ax.Place(place, action.Length)
	return d
}

// offsetText is "($rbp - 20)".
func offsetText(name string, offset int64) string {
	switch {
	case offset < 0:
		return "(" + name + " - " + strconv.FormatUint(uint64(-offset), 10) + ")"
	case offset > 0:
		return "(" + name + " + " + strconv.FormatInt(offset, 10) + ")"
	}
	return name
}

func (v *View) registerName(n arch.Reg) string {
	if v.Layout != nil {
		if slot := v.Layout.ByNumber(n); slot != nil {
			return "$" + slot.Reg.Name
		}
	}
	return "$register" + strconv.Itoa(int(n))
}

// codeDraft makes the draft of an expression.
func (v *View) codeDraft(code []byte) *draft {
	// Such a draft has no source and matches no text, but keeps its place among the actions.
	program, err := ax.Decode(code)
	if err != nil {
		return &draft{}
	}
	d := &draft{shape: shapeOf(program)}
	d.access, d.accesses = accessOf(program)
	d.source.code = program
	d.source.needs = len(program.Requirements().Registers) > 0
	if !d.settle(program) {
		return d
	}
	d.text = "agent expression " + hex.EncodeToString(code)
	// The last effect is what was asked for; those before it found the address.
	effects, ok := program.Decompile(ax.Names{Register: v.registerName, Variable: v.variableText})
	if ok && len(effects) > 0 {
		effect := effects[len(effects)-1]
		d.text = effect.Text
		if effect.Fixed && d.source.kind == sourceCode {
			d.source.kind, d.source.addr = sourceMemory, effect.Addr
		}
	}
	return d
}

// settle finds out what an expression collects, which its end tells: the memory that it records last, because what comes
// before was needed to find that, or the variable, or a number that it drops; false if it collects nothing.
func (d *draft) settle(program *ax.Program) bool {
	// The last is always end. One ahead of it says what is collected, and the two before that say of which size or
	// variable: const and trace, tracev and pop.
	var last [4]ax.Instruction // up to the end
	for in := range program.Instructions() {
		last = [4]ax.Instruction{last[1], last[2], last[3], in}
	}
	constant := last[1].Op >= ax.OpConst8 && last[1].Op <= ax.OpConst64
	kind, known := endings[last[2].Op]
	switch {
	// Code that assigns to a trace state variable is a teval command's, even if it leaves the value on the stack.
	case !known || d.shape.sets:
		return false
	case kind == sourceResult && last[1].Op == ax.OpTracev:
		kind, d.source.variable = sourceVariable, int32(last[1].Operand)
	case kind == sourceResult:
		d.source.code, d.source.size = withoutPop(program, last[2].Offset), 8
	case last[2].Op == ax.OpTraceQuick || last[2].Op == ax.OpTrace16:
		d.source.size = last[2].Operand
	case constant:
		d.source.size = last[1].Operand
	}
	d.source.kind = kind
	return true
}

// endings says what code collects by the instruction ahead of its end.
var endings = map[ax.Op]sourceKind{
	ax.OpTrace: sourceCode, ax.OpTraceQuick: sourceCode, ax.OpTrace16: sourceCode,
	ax.OpTracenz: sourceString,
	ax.OpPop:     sourceResult, // or a variable
}

// withoutPop returns a program that ends at the offset of the pop that drops what is wanted.
// The value is on top of the stack then, where ax.Machine.Value takes it from.
func withoutPop(p *ax.Program, pop int) *ax.Program {
	code := p.Code()
	code[pop] = byte(ax.OpEnd)
	ending, err := ax.Decode(code)
	if err != nil {
		return p
	}
	return ending
}

// variableText is a trace state variable as an expression names it.
func (v *View) variableText(n uint16) string { return "$" + v.VariableName(int32(n)) }

// shape is what an action looks like.
type shape struct {
	memory  bool // an M action
	records bool
	plain   bool // nothing is read to find what is recorded, and only one thing is
	sets    bool // a trace state variable
}

func shapeOf(p *ax.Program) shape {
	s := shape{plain: true}
	// Any memory reference or jump makes the place that is recorded depend on data.
	recordings := 0
	for in := range p.Instructions() {
		switch in.Op {
		case ax.OpTrace, ax.OpTraceQuick, ax.OpTrace16, ax.OpTracenz:
			recordings++
		case ax.OpTracev:
			s.records, s.plain = true, false
		case ax.OpRef8, ax.OpRef16, ax.OpRef32, ax.OpRef64, ax.OpGetv, ax.OpGoto, ax.OpIfGoto:
			s.plain = false
		case ax.OpSetv:
			s.sets, s.plain = true, false
		}
	}
	s.records = s.records || recordings > 0
	s.plain = s.plain && recordings <= 1
	return s
}
