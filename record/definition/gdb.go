package definition

import (
	"regexp"
	"slices"
	"strings"

	"tracewell/record/plan"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// dollar matches a name of GDB's in an expression: a register, a trace state variable, or one of words.
var dollar = regexp.MustCompile(`\$[A-Za-z_][A-Za-z_0-9]*`)

// words are the names of GDB's own that its collect action accepts.
var words = []string{"$args", "$locals", "$regs", "$_ret", "$_sdata", "$" + trace.TimestampName}

// dialect writes an expression as GDB can collect it, false if it cannot. GDB's agent expressions have neither its user registers
// $pc, $sp and $fp, which are written by the names of the machine's registers, nor parts of registers such as $eax,
// in which the arguments of probes are.
func (c *compiler) dialect(e plan.Text) (string, bool) {
	known := true
	text := dollar.ReplaceAllStringFunc(e.Value, func(name string) string {
		if slot := c.layout.ByNumber(c.isa.Role(name[1:])); slot != nil {
			return "$" + slot.Reg.Name
		}
		_, isVariable := c.variables[name[1:]]
		known = known && (isVariable || slices.Contains(words, name) || c.layout.ByName(name[1:]) != nil)
		return name
	})
	return text, known && !c.foreign[e.Value]
}

// noteForeign remembers an expression that GDB cannot collect because it reads a thread-local variable: GDB compiles none of
// those to agent expressions. The thread pointer among the registers, which the user did not ask for by name, gives it away.
func (c *compiler) noteForeign(text plan.Text, collected *expr.Collection) {
	threadPointer := c.isa.Machine.ThreadPointer
	slot := c.layout.ByName(threadPointer)
	if slot == nil || strings.Contains(text.Value, threadPointer) || strings.HasPrefix(text.Value, "$") {
		return
	}
	if slices.Contains(collected.Registers, slot.Reg.Num) {
		c.foreign[text.Value] = true
	}
}
