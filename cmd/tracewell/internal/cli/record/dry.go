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
	frameview "tracewell/view"
	"tracewell/view/wire"
)

// rehearse launches the program or attaches to the process, prints what would be traced, and leaves before any of it has run.
func (c *Command) rehearse(p *plan.Plan, streams console.Streams) error {
	config := c.config(p, "", streams)
	config.Buffer, config.Circular = 0, false
	reading := newReadingBar(streams.Err)
	config.Symbols.Progress = reading.set
	session, err := openHere(config)
	reading.done()
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer session.Close()
	for _, warning := range session.Warnings() {
		fmt.Fprintf(streams.Err, "tracewell: warning: %v\n", warning)
	}
	program, _ := symbol.Open(c.executable(), symbol.Options{}) // without there are addresses
	view, _ := frameview.New(definitions(session.Header()), program)
	return console.Write(streams, func(out *console.Output) error {
		if c.JSON {
			return writeRehearsalJSON(out, view, session.Points())
		}
		return writeRehearsal(out, view, session.Points())
	})
}

// definitionsOf are the definitions of one tracepoint, by address.
func definitionsOf(view *frameview.View, n trace.Number) []trace.Tracepoint {
	all := frameview.ByNumber(view.Content.Header().Tracepoints)
	return slices.DeleteFunc(all, func(t trace.Tracepoint) bool { return t.Number != n })
}

func writeRehearsal(out *console.Output, view *frameview.View, points []record.Point) error {
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
		for k, t := range definitionsOf(view, p.Number) {
			if k > 0 {
				fmt.Fprintln(out)
			}
			printing.WriteDefinition(out, view, &t)
			if at := slices.IndexFunc(p.Locations, func(l symbol.Location) bool { return l.Addr == t.Addr }); at >= 0 {
				console.Property(out, "place", text.Visible(p.Locations[at].String()))
			}
			console.Property(out, "frame", frameSizeText(view, &t, t.Actions))
			if t.Step > 0 {
				console.Property(out, "of a step", frameSizeText(view, &t, t.StepActions))
			}
		}
	}
	if variables := view.Content.Header().Variables; len(variables) > 1 {
		printing.WriteVariableDefinitions(out, variables)
	}
	return nil
}

// blockHeads are the bytes in front of the content of a block of memory, and all of one of a variable.
const (
	memoryHead    = 11
	variableBlock = 13
)

// frameSize is how many bytes a frame takes at most, and whether it always takes as many. What a string takes is not known
// beforehand, nor what code collects that works out how much.
func frameSize(view *frameview.View, actions []trace.Action) (size uint64, exact, known bool) {
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
		size += 1 + uint64(view.Content.Header().RegisterSize)
	}
	return size, exact, known
}

// codeSize is how many bytes code collects at most.
func codeSize(code []byte) (size uint64, exact, known bool) {
	program, err := ax.Decode(code)
	if err != nil {
		return 0, false, false
	}
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

func frameSizeText(view *frameview.View, t *trace.Tracepoint, actions []trace.Action) string {
	size, exact, known := frameSize(view, actions)
	switch {
	case !known:
		return "as long as what is collected, and " + text.Plural(size, "byte")
	case !exact:
		return "up to " + text.Plural(size, "byte")
	}
	return text.Plural(size, "byte")
}

func writeRehearsalJSON(out *console.Output, view *frameview.View, points []record.Point) error {
	header := view.Content.Header()
	object := wire.Rehearsal{RegisterBlockSize: header.RegisterSize, Tracepoints: []wire.RehearsedPoint{}, Variables: []wire.Variable{}}
	for _, p := range points {
		o := wire.RehearsedPoint{Number: p.Number, At: p.At, Locations: wire.DescribeLocations(p.Locations), Defined: []wire.Definition{}}
		if p.Pending != nil {
			o.Pending = p.Pending.Error()
		}
		for _, t := range definitionsOf(view, p.Number) {
			size, _, known := frameSize(view, t.Actions)
			o.Defined = append(o.Defined, wire.Definition{Tracepoint: wire.DescribeTracepoint(view, &t, 0), FrameSize: wire.Told(size, known)})
		}
		object.Tracepoints = append(object.Tracepoints, o)
	}
	for _, v := range header.Variables {
		object.Variables = append(object.Variables, wire.DescribeVariable(v))
	}
	return console.WriteIndented(out, object)
}
