package query

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// moment is the operand of questions about a position. It is in front of an instruction, where GDB stands after a breakpoint there;
// behind the last instruction it is "end".
type moment struct {
	Position string `arg:"" complete:"locations" help:"In front of which instruction: its number, :LINE of the trace, @TIME, begin, end, or the first execution of an address, a symbol or FILE:LINE."`
}

// registersCommand is "tracewell query registers". Nothing is made up: a register that was not written before is not told.
type registersCommand struct {
	asking
	moment
	Names []string `arg:"" optional:"" name:"register" complete:"registers" help:"Only these registers, by any of their names."`
}

// Examples implements flags.Exampler.
func (*registersCommand) Examples() string {
	return `  tracewell query registers run.log 70000        # all registers in front of instruction 70000
  tracewell query registers run.log push a0 a1 --exec fw.elf   # arguments at the first call of a function
  tracewell query registers run.log @125000 --cpu 1 --json | jq '.registers[] | select(.value != null)'
`
}

// Run implements kong's command. The position is in front of an instruction, so that its own writes are not there yet; those of the
// last are at the position end.
func (c *registersCommand) Run(streams console.Streams) error {
	return c.ask(streams, func(a *answer) error {
		position, step, err := a.moment(c.Position)
		if err != nil {
			return err
		}
		held, err := a.RegistersAt(a, position)
		if err != nil {
			return err
		}
		if held, err = a.chosen(held, c.Names); err != nil {
			return err
		}
		if a.json {
			return a.object(wire.DescribeRegisters(a.Trace, step, held))
		}
		return a.registers(step, held)
	})
}

// moment finds a position, and the instruction there: only its number at the end of the trace.
func (a *answer) moment(operand string) (int64, query.Step, error) {
	position, err := a.Position(a, operand, max(a.From, 0))
	if err != nil {
		return 0, query.Step{}, err
	}
	// begin is in front of everything; registers may have been written in front of the first instruction.
	if position = max(position, 0); position == a.Instructions {
		return position, query.Step{Number: position}, nil
	}
	step, err := a.Step(position)
	return position, step, err
}

// chosen leaves the registers of some names, all without any.
func (a *answer) chosen(held []query.Held, names []string) (left []query.Held, err error) {
	if len(names) == 0 {
		return held, nil
	}
	// A register may have several names in the trace, as a vector that is written in halves.
	for _, name := range names {
		slot, numbers := a.Execution.Named(a.Trace.Trace, name)
		before := len(left)
		for _, h := range held {
			own, ok := a.Register(h.Name)
			if ok && slices.Contains(numbers, own) || !ok && slot != nil && h.Name == slot.Reg.Name {
				left = append(left, h)
			}
		}
		if len(left) == before {
			return nil, fmt.Errorf("%q is no register of the trace", name)
		}
	}
	return left, nil
}

// registers prints registers as a table, in the order in which debuggers have them. Those of which nothing is known are a list
// below it: they are told apart from registers that hold zero.
func (a *answer) registers(step query.Step, held []query.Held) error {
	fmt.Fprintln(a, a.Style.Heading(a.title(step)))
	columns := []text.Column{{Title: "register"}, {Title: "value", Right: true}, {Title: "told at line", Right: true}}
	if len(a.CPUs) > 1 {
		columns = append([]text.Column{{Title: "cpu", Right: true}}, columns...)
	}
	// Registers of which nothing is known would be most of the rows at the beginning of a trace.
	table := text.NewTable(a, a.Width, a.Style, columns...)
	var unknown []string
	for _, h := range held {
		// The line is where an editor finds who wrote it; at, with the line, shows the instruction.
		value, line := wire.HexDigits(h.Value), fmt.Sprint(h.Line)
		if value == "" {
			unknown = append(unknown, h.Name)
			continue
		}
		if h.Line == 0 {
			line = ""
		}
		row := []string{text.Visible(h.Name), value, line}
		if len(a.CPUs) > 1 {
			row = append([]string{fmt.Sprint(h.CPU)}, row...)
		}
		if err := table.Row(console.CellsOf(row)); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	// Registers of several processors have the same names, so that each name stands once.
	if slices.Sort(unknown); len(unknown) > 0 {
		fmt.Fprintf(a, "not told: %s\n", text.Visible(strings.Join(slices.Compact(unknown), " ")))
	}
	return nil
}

// title says in front of which instruction something was held. A user who gave a time or a symbol learns where that is.
func (a *answer) title(step query.Step) string {
	d := wire.DescribeStep(a.Trace, step)
	if step.Item == nil {
		return fmt.Sprintf("behind the last of %d instructions", step.Number)
	}
	title := fmt.Sprintf("in front of instruction %d, line %d, pc %s", d.Instruction, d.Line, d.PC)
	if d.Symbol != "" {
		title += " <" + d.Symbol + ">"
	}
	if d.Disassembly != "" {
		title += ": " + d.Disassembly
	}
	return text.Visible(title)
}

// memoryCommand is "tracewell query memory". With --exec memory that no record has told of is what the program is loaded with.
type memoryCommand struct {
	asking
	Range string `arg:"" complete:"locations" help:"What memory: an address as 0x1000, a range as 0x1000..0x10ff or 0x1000,256, or with --exec a variable."`
	moment
	Backfill bool `help:"Assume that memory held from the beginning what is read there before it is first written."`
}

// Examples implements flags.Exampler.
func (*memoryCommand) Examples() string {
	return `  tracewell query memory run.log 0x10000,256 70000   # a hex dump; ?? are bytes of which nothing is known
  tracewell query memory run.log queue push --exec fw.elf   # a variable at the first call of a function
  tracewell query memory run.log 0x10000..0x1000f end --backfill --json
`
}

// Run implements kong's command. The operand is memory also where a register has the same name as a variable.
func (c *memoryCommand) Run(streams console.Streams) error {
	return c.ask(streams, func(a *answer) error {
		o, err := a.Object("&" + strings.TrimPrefix(c.Range, "&"))
		if err != nil {
			return err
		}
		position, step, err := a.moment(c.Position)
		if err != nil {
			return err
		}
		a.order()
		image, err := a.MemoryAt(position, o.Addr, o.Size, c.Backfill)
		if err != nil {
			return err
		}
		if a.json {
			return a.object(wire.DescribeMemory(a.Trace, step, image))
		}
		fmt.Fprintln(a, a.Style.Heading(a.title(step)))
		// A byte whose digits the producer did not know is not known either.
		known := make([]bool, len(image.Known))
		for i, k := range image.Known {
			known[i] = k == index.Known
		}
		_, err = a.Write(text.AppendPartialDump(nil, "", arch.Addr(o.Addr), image.Bytes, known))
		return err
	})
}
