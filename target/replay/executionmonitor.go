package replay

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/target"
)

// MonitorCommands implements target.Groups.
func (t *ExecutionTarget) MonitorCommands() target.MonitorCommands { return t }

// Commands implements target.MonitorCommands.
func (t *ExecutionTarget) Commands() []target.MonitorCommand {
	return []target.MonitorCommand{
		{Name: "goto", Arguments: "TIME|#N|:LINE|begin|end", About: "go to a time, an instruction counted from 0, or a line of the trace",
			Do: t.gotoPlace},
		{Name: "where", About: "say at which instruction, time and line of the trace this is", Do: t.where},
		{Name: "writers", Arguments: "ADDR[,LENGTH]|REGISTER|SYMBOL",
			About: "list who wrote memory or a register, before and after this position",
			Do:    t.writers},
		{Name: "mark", Arguments: "[NAME]", About: "remember this position", Do: t.mark},
		{Name: "back", Arguments: "[NAME]", Do: t.back,
			About: "go back to a mark, without a name to the one without, or to where the last goto began"},
	}
}

// before is the mark of where a goto began. No user's has a blank.
const before = " "

// flush is what a user of GDB has to do when the target has moved behind its back.
const flush = `GDB shows what it knew before until it is told: maintenance flush register-cache, and dcache
`

// gotoPlace is goto.
func (t *ExecutionTarget) gotoPlace(id target.ThreadID, args string) (string, error) {
	position, err := t.find(args)
	if err != nil {
		return "", err
	}
	return t.jump(id, position)
}

// jump goes to a position and says where that is.
func (t *ExecutionTarget) jump(id target.ThreadID, position int64) (string, error) {
	t.marks[before] = t.position
	t.move(position)
	says, err := t.where(id, "")
	return says + flush, err
}

// Goto goes to the position in front of an instruction, by its number, or to the end.
func (t *ExecutionTarget) Goto(instruction int64) {
	t.move(max(0, min(instruction, t.trace.Instructions)))
}

// GotoLine goes to the position of a line of the trace.
func (t *ExecutionTarget) GotoLine(line int64) error {
	position, err := t.trace.AtLine(line)
	if err == nil {
		t.move(position)
	}
	return t.fail(err)
}

// find reads a place in the trace.
func (t *ExecutionTarget) find(args string) (int64, error) {
	switch args {
	case "begin", "start":
		return 0, nil
	case "end":
		return t.trace.Instructions, nil
	}
	kind, digits := byte(0), args
	if args != "" && (args[0] == '#' || args[0] == ':') {
		kind, digits = args[0], args[1:]
	}
	n, err := strconv.ParseUint(digits, 0, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is no place: want a time as 1200, an instruction as #1200, a line as :1200, begin or end", args)
	}
	var position int64
	switch kind {
	case '#':
		if int64(n) > t.trace.Instructions {
			return 0, fmt.Errorf("there is no instruction #%d: the last is #%d", n, t.trace.Instructions-1)
		}
		return int64(n), nil
	case ':':
		if int64(n) > t.trace.Lines || n == 0 {
			return 0, fmt.Errorf("there is no line %d: the trace has %d", n, t.trace.Lines)
		}
		position, err = t.trace.AtLine(int64(n))
	default:
		position, err = t.trace.AtTime(n)
	}
	return position, t.fail(err)
}

// where says what position it is.
func (t *ExecutionTarget) where(target.ThreadID, string) (string, error) {
	if t.position == t.trace.Instructions {
		return fmt.Sprintf("behind the last of %d instructions\n", t.position), nil
	}
	it, err := t.trace.Instruction(t.position)
	if err != nil {
		return "", t.fail(err)
	}
	line, err := t.trace.Line(it.Offset)
	if err != nil {
		return "", t.fail(err)
	}
	return fmt.Sprintf("in front of instruction #%d of %d, time %d, cpu %d, line %d:\n%s\n",
		t.position, t.trace.Instructions, it.Time, it.CPU, it.Line, line), nil
}

// writers lists the last and the next that wrote something.
func (t *ExecutionTarget) writers(id target.ThreadID, args string) (string, error) {
	wants, err := t.written(id, args)
	if err != nil {
		return "", err
	}
	const most = 5
	var b strings.Builder
	var lines []string
	position := t.position
	for len(lines) < most {
		found, err := t.trace.Previous(context.Background(), position, wants)
		if err != nil {
			return "", t.fail(err)
		}
		if found == nil {
			break
		}
		lines = append(lines, t.tell(found))
		if position = found.Instruction; position < 0 {
			break
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
	}
	fmt.Fprintf(&b, "----- this position, in front of instruction #%d\n", t.position)
	position = t.position
	for range most {
		found, err := t.trace.Next(context.Background(), position, wants)
		if err != nil {
			return "", t.fail(err)
		}
		if found == nil {
			break
		}
		b.WriteString(t.tell(found))
		position = found.Instruction + 1
	}
	return b.String(), nil
}

// tell is a line about something that was found.
func (t *ExecutionTarget) tell(f *index.Found) string {
	text, err := t.trace.Line(f.Item.Offset)
	if err != nil {
		return err.Error() + "\n"
	}
	pc := ""
	if f.Instruction >= 0 {
		if it, err := t.trace.Instruction(f.Instruction); err == nil {
			pc = fmt.Sprintf("pc 0x%x, ", it.Addr)
		}
	}
	return fmt.Sprintf("#%d, %sline %d: %s\n", max(f.Instruction, 0), pc, f.Item.Line, text)
}

var errWriters = errors.New("writers of what? Want an address, as 0x1000 or 0x1000,4, a register, " +
	"or a symbol of the program (--exec)")

// written reads what writers is asked about.
func (t *ExecutionTarget) written(id target.ThreadID, args string) ([]index.Want, error) {
	slot, names := t.e.Named(t.trace, args)
	var wants []index.Want
	for _, name := range names {
		wants = append(wants, index.Want{What: index.RegisterSet, CPU: cpuOf(id), Name: name})
	}
	if slot != nil || len(wants) > 0 {
		if len(wants) == 0 {
			return nil, fmt.Errorf("nothing writes register %s in this trace", args)
		}
		return wants, nil
	}
	if from, size, ok := t.e.program.symbol(args); ok {
		return []index.Want{{What: index.Write, Addr: from, Size: size}}, nil
	}
	addr, length, some := strings.Cut(args, ",")
	from, err := strconv.ParseUint(addr, 0, 64)
	size := uint64(1)
	if some && err == nil {
		size, err = strconv.ParseUint(length, 0, 32)
	}
	if err != nil || size == 0 {
		return nil, errWriters
	}
	return []index.Want{{What: index.Write, Addr: from, Size: size}}, nil
}

// mark remembers the position.
func (t *ExecutionTarget) mark(id target.ThreadID, args string) (string, error) {
	t.marks[args] = t.position
	return t.where(id, "")
}

// back goes to a mark.
func (t *ExecutionTarget) back(id target.ThreadID, args string) (string, error) {
	position, ok := t.marks[args]
	if args == "" {
		if at, jumped := t.marks[before]; jumped && !ok {
			position, ok = at, true
		}
	}
	if !ok {
		return "", fmt.Errorf("there is no mark %q", args)
	}
	return t.jump(id, position)
}

// Position describes the position for a message: pc and number of the instruction.
func (t *ExecutionTarget) Position() string {
	if t.position < t.trace.Instructions {
		if it, err := t.trace.Instruction(t.position); err == nil && it.Kind == itrace.Instruction {
			return fmt.Sprintf("in front of instruction #%d at %v, line %d", t.position, arch.Addr(it.Addr), it.Line)
		}
	}
	return "behind the last instruction"
}
