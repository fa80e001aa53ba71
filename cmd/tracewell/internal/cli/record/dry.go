package record

import (
	"fmt"
	"slices"
	"strings"

	"tracewell/ax"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/text"
	"tracewell/record"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/wire"
)

// rehearse launches the program or attaches to the process, prints what would be traced, and leaves before any code of its own
// has run: the dynamic linker has loaded its libraries, so their tracepoints have addresses, too. A program that was launched
// is killed then, and a process is detached from, as is a program behind a stub. No file is written, whatever --output and
// --buffer say.
func (c *Command) rehearse(p *plan.Plan, streams console.Streams) error {
	config := c.config(p, "", streams)
	config.Buffer, config.Circular = 0, false
	session, err := whileReading(streams.Err, &config.Symbols, func() (*record.Session, error) {
		if c.To == "" {
			return openHere(config)
		}
		session, _, err := c.openPeer(config.Config, streams)
		return session, err
	})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer session.Close()
	for _, warning := range session.Warnings() {
		for _, line := range warningTexts(warning, c.Verbose) {
			fmt.Fprintf(streams.Err, "tracewell: warning: %s\n", line)
		}
	}
	// Without a program the definitions are printed by address: the names are for reading only, the session has resolved them itself.
	program, _ := symbol.Open(c.executable(), symbol.Options{})
	v, _ := view.New(tfile.Definitions(session.Header()), program)
	return console.Write(streams, func(out *console.Output) error {
		if c.JSON {
			return writeRehearsalJSON(out, v, session.Points())
		}
		return writeRehearsal(out, v, session.Points())
	})
}

// definitionsOf are the definitions of one tracepoint, in the order of their addresses: GDB gives all locations of a tracepoint
// one number.
func definitionsOf(v *view.View, n trace.Number) []trace.Tracepoint {
	all := view.ByNumber(v.Content.Header().Tracepoints)
	return slices.DeleteFunc(all, func(t trace.Tracepoint) bool { return t.Number != n })
}

// writeRehearsal prints the definitions as info does, and adds the place of each and the size of its frames.
func writeRehearsal(out *console.Output, v *view.View, points []record.Point) error {
	for i, p := range points {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if p.Pending != nil {
			fmt.Fprintln(out, out.Style.Heading(fmt.Sprintf("Tracepoint %d, %s", p.Number, text.Visible(p.At))))
			reason, _, _ := strings.Cut(p.Pending.Error(), "\n")
			console.Property(out, "waits", "for a library that has it: "+text.Visible(reason))
			continue
		}
		for k, t := range definitionsOf(v, p.Number) {
			if k > 0 {
				fmt.Fprintln(out)
			}
			// The place is that of the session, which knows where each file was loaded; the program as a file has other addresses if it is
			// position-independent.
			printing.WriteDefinition(out, v, &t)
			if at := slices.IndexFunc(p.Locations, func(l symbol.Location) bool { return l.Addr == t.Addr }); at >= 0 {
				console.Property(out, "place", text.Visible(p.Locations[at].String()))
			}
			console.Property(out, "frame", frameSizeText(v, &t, t.Actions))
			if t.Step > 0 {
				console.Property(out, "of a step", frameSizeText(v, &t, t.StepActions))
			}
		}
	}
	variables := v.Content.Header().Variables
	if slices.ContainsFunc(variables, func(v trace.Variable) bool { return !v.Builtin }) {
		printing.WriteVariableDefinitions(out, variables)
	}
	return nil
}

// Sizes in bytes of blocks in a frame, as GDB's manual has them ("Trace File Format"): in front of the content of a block of
// memory stand the letter M, an address of 8 bytes and a length of 2; a block of a variable is the letter V, a number of 4 and a
// value of 8.
const (
	memoryHead    = 11
	variableBlock = 13
)

// frameSize is the number of bytes of a frame at most, and whether every frame takes as many. The size is not known, and only the
// rest of it returned, if a tracepoint collects strings without a limit, data of a static tracepoint, or memory whose length
// bytecode computes. Registers of several actions are one block.
func frameSize(v *view.View, actions []trace.Action) (size uint64, exact, known bool) {
	// A block of registers has one size in all frames of a file, which the line R of its header tells, whichever registers an action
	// names. Memory that overlaps is counted for each action that collects it.
	size, exact, known = tfile.FrameHeader, true, true
	registers := false
	for _, a := range actions {
		switch a.Kind {
		case trace.CollectRegisters:
			registers = true
		case trace.CollectMemory:
			size += memoryHead + a.Length
		case trace.CollectExpression:
			n, sure, told := codeSize(a.Code)
			size, exact, known = size+n, exact && sure, known && told
		case trace.CollectStatic:
			known = false
		}
	}
	if registers {
		size += 1 + uint64(v.Content.Header().RegisterSize)
	}
	return size, exact, known
}

// codeSize is the number of bytes that bytecode collects at most. It follows instructions in a row, and counts both sides of a
// branch: GDB and Tracewell only branch forward, to skip. The length of trace and tracenz is on the stack, and known if it was
// pushed just before.
func codeSize(code []byte) (size uint64, exact, known bool) {
	program, err := ax.Decode(code)
	if err != nil {
		return 0, false, false
	}
	// tracenz collects up to its limit, and less where a zero byte ends the string. A limit of 0 is none.
	exact, known = true, true
	var last ax.Instruction
	for in := range program.Instructions() {
		constant := last.Op == ax.OpConst8 || last.Op == ax.OpConst16 || last.Op == ax.OpConst32 || last.Op == ax.OpConst64
		switch in.Op {
		case ax.OpTraceQuick, ax.OpTrace16:
			size += memoryHead + in.Operand
		case ax.OpTrace:
			size, known = size+memoryHead+last.Operand, known && constant
		case ax.OpTracenz:
			size, exact, known = size+memoryHead+last.Operand, false, known && constant && last.Operand > 0
		case ax.OpTracev:
			size += variableBlock
		case ax.OpIfGoto:
			exact = false
		}
		last = in
	}
	return size, exact, known
}

// frameSizeText is the size of a frame for people. The size of a frame that is not known begins with what is.
func frameSizeText(v *view.View, t *trace.Tracepoint, actions []trace.Action) string {
	size, exact, known := frameSize(v, actions)
	switch {
	case !known:
		return "as long as what is collected, and " + text.Plural(size, "byte")
	case !exact:
		return "up to " + text.Plural(size, "byte")
	}
	return text.Plural(size, "byte")
}

// writeRehearsalJSON prints a wire.Rehearsal. A size that is not known is null.
func writeRehearsalJSON(out *console.Output, v *view.View, points []record.Point) error {
	header := v.Content.Header()
	object := wire.Rehearsal{RegisterBlockSize: header.RegisterSize, Tracepoints: []wire.RehearsedPoint{},
		Variables: []wire.Variable{}}
	// A pending tracepoint has no definitions yet: its list is empty, and the reason stands beside it.
	for _, p := range points {
		o := wire.RehearsedPoint{Number: p.Number, At: p.At, Locations: wire.DescribeLocations(p.Locations), Defined: []wire.Definition{}}
		if p.Pending != nil {
			o.Pending = p.Pending.Error()
		}
		for _, t := range definitionsOf(v, p.Number) {
			size, _, known := frameSize(v, t.Actions)
			o.Defined = append(o.Defined, wire.Definition{Tracepoint: wire.DescribeTracepoint(v, &t, 0), FrameSize: wire.Told(size, known)})
		}
		object.Tracepoints = append(object.Tracepoints, o)
	}
	for _, v := range header.Variables {
		object.Variables = append(object.Variables, wire.DescribeVariable(v))
	}
	return console.WriteIndented(out, object)
}
