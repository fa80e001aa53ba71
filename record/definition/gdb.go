package definition

import (
	"regexp"
	"slices"
	"strings"

	"tracewell/record/plan"
	"tracewell/symbol/expr"
	"tracewell/trace"
)

// dollar is a name of GDB's in an expression.
var dollar = regexp.MustCompile(`\$[A-Za-z_][A-Za-z_0-9]*`)

// words are the names of GDB's own that it collects.
var words = []string{"$args", "$locals", "$regs", "$_ret", "$_sdata", "$" + trace.TimestampName}

// dialect gives expressions to GDB as it can collect them: it knows no tracepoint that collects $pc, $sp and $fp, which are
// written by the names of their registers, nor parts of registers.
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

// noteForeign remembers an expression that GDB cannot collect because it is of a thread's own variables.
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
