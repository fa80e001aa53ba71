package symbol

import (
	"debug/dwarf"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// Calls returns the functions that are being executed at an address of the process, the innermost first: inlined copies, and last
// the function that contains the code. The first has the line of the address, each other the line of the call to the one before.
// All have the same address, since inlined calls have none of their own. There is always one; outside of all objects it has
// nothing but the address.
func (p *Program) Calls(addr arch.Addr) []Location {
	o := p.ObjectAt(addr)
	if o == nil {
		return []Location{{Addr: addr}}
	}
	pc := addr - o.bias
	call := o.describe(pc)
	calls := []Location{call}
	u := o.unitAt(pc)
	if u == nil {
		return calls
	}
	// The blocks are those by which GDB makes inline frames. An inlined copy that lies in no function is damage.
	for b := u.blockAt(pc).nearest(); b != nil && b.function.inlined; {
		caller := b.outer.nearest()
		if caller == nil {
			break
		}
		call.Function, call.Inlined = u.wholeName(caller, o.symbols()), caller.function.inlined
		call.File, call.Line = u.callSite(b.function.entry)
		calls = append(calls, call)
		b = caller
	}
	return calls
}

// callSite is where an inlined copy of a function was called, "" and 0 if that is not known. The number of the file is an index
// of the unit's line table, as that of a row is.
func (u *unit) callSite(copied *debuginfo.Entry) (file string, line int) {
	number, _ := copied.Unsigned(dwarf.AttrCallFile)
	n, ok := copied.Unsigned(dwarf.AttrCallLine)
	path := u.Lines().Path(debuginfo.Row{File: uint32(number)})
	if !ok || path == "" {
		return "", 0
	}
	return given(path, u.Unit), int(n)
}

// ObjectAt returns the object that has code at an address of the process, nil if there is none.
func (p *Program) ObjectAt(addr arch.Addr) *Object {
	for _, o := range p.Objects() {
		if o.file.HasCode(addr - o.bias) {
			return o
		}
	}
	return nil
}
