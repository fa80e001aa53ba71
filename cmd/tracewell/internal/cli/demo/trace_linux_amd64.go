package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/demo"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/tdesc"
	"tracewell/trace"
	"tracewell/tracepoint"
)

// The demonstration's tracepoint, as a user of GDB would have typed it. The pointers are in registers at the first
// instruction of the function, which is what the * in front of its name means.
var demoSource = trace.Source{
	At:   "*" + demo.Handle,
	Cond: "q->depth > 24",
	Commands: []string{
		"teval $crowded = $crowded + 1",
		"collect $regs, q->depth, *job, *q, $crowded",
	},
}

// What GDB would compile of it: the condition reads the first field of *q through a register, since at the first instruction
// arguments are where the calling convention puts them. Written out, the demonstration needs neither a compiler of expressions
// nor debug information.
const (
	demoCondition = `
		reg %[1]d       # q
		ref64           # its first field is depth
		const8 24
		swap
		less_signed
		end`
	demoCount = `
		getv 2
		const8 1
		add
		setv 2
		end`
	demoCollectCount = `
		tracev 2
		end`
)

// crowded is the trace state variable that counts the hits. Number 1 is $trace_timestamp, so the first of a user's own is 2, as
// with GDB.
var crowded = trace.Variable{Number: 2, Name: "crowded"}

// demoTracepoint makes the definition, with the register numbers of the target's description. Actions are in the order of the
// source, as GDB sends them (QTDP): R collects registers, M memory at a register and an offset, X bytecode.
func demoTracepoint(layout *tdesc.Layout) (trace.Tracepoint, error) {
	function, err := demo.Lookup(demo.Handle)
	if err != nil {
		return trace.Tracepoint{}, err
	}
	queue, err := demo.Lookup(demo.Queue)
	if err != nil {
		return trace.Tracepoint{}, err
	}
	arguments := arch.AMD64.Arguments
	q, job := layout.Number(arguments[0]), layout.Number(arguments[1])
	const depthSize = 8
	return trace.Tracepoint{
		Number:    1,
		Addr:      function.Addr,
		Enabled:   true,
		Condition: assemble(demoCondition, q),
		Actions: []trace.Action{
			{Kind: trace.CollectExpression, Code: assemble(demoCount)},
			{Kind: trace.CollectRegisters, Mask: everyRegister(layout)},
			{Kind: trace.CollectMemory, Base: q, Length: depthSize},
			{Kind: trace.CollectMemory, Base: job, Length: demo.JobSize},
			{Kind: trace.CollectMemory, Base: q, Offset: depthSize, Length: queue.Size - depthSize},
			{Kind: trace.CollectExpression, Code: assemble(demoCollectCount)},
		},
		Source: demoSource,
	}, nil
}

// assemble makes bytecode of a constant text, into which registers are formatted. A mistake in the text is a bug, so it panics.
func assemble(text string, registers ...any) []byte {
	if len(registers) > 0 {
		text = fmt.Sprintf(text, registers...)
	}
	code, err := ax.Assemble(text)
	if err != nil {
		panic(err)
	}
	return code
}

// everyRegister is the mask of an R action for all registers: bit N of the number that the bytes are, big endian, is register N.
func everyRegister(layout *tdesc.Layout) []byte {
	// Slots are in the order of numbers, so the last one has the highest. GDB writes such a mask without leading zeros.
	highest := layout.Slots[len(layout.Slots)-1].Reg.Num
	mask := make([]byte, highest/8+1)
	for _, slot := range layout.Slots {
		mask[len(mask)-1-int(slot.Reg.Num/8)] |= 1 << (slot.Reg.Num % 8)
	}
	return mask
}

// traceDemo runs the demo program to its end under trace. Standard input and error are /dev/null: the program prints one line,
// and asks nothing. Cancelling the context kills it with the target.
func traceDemo(ctx context.Context) (*demonstration, error) {
	path, remove, err := executable("")
	if err != nil {
		return nil, err
	}
	defer remove()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	// What the program prints, one short line, fits into the pipe.
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	process, err := linux.New(linux.Streams{In: null, Out: in, Err: null})
	if err != nil {
		in.Close()
		return nil, err
	}
	defer process.Close()
	_, err = process.Start(target.Program{Path: path})
	// The program has the writing end now. With this one open, too, the output would never end.
	in.Close()
	if err != nil {
		return nil, err
	}
	d, err := traceProcess(ctx, process)
	if err != nil {
		return nil, err
	}
	printed, err := io.ReadAll(out)
	d.printed = string(printed)
	return d, err
}

// traceProcess sets the tracepoint in the program, which is stopped at its first instruction, and runs it to its end. The run is
// stopped with a reason that info prints.
func traceProcess(ctx context.Context, process *linux.Target) (*demonstration, error) {
	layout, err := process.Description().Layout()
	if err != nil {
		return nil, err
	}
	blocks, err := tracepoint.LayoutOf(process)
	if err != nil {
		return nil, err
	}
	// These are the parts that serve puts together for a client: a target, an engine over its registers, and the handler of hits
	// between.
	engine := tracepoint.New(blocks)
	process.Tracer().SetHandler(engine.NewHandler())
	if err := defineDemo(engine, layout); err != nil {
		return nil, err
	}
	if err := engine.Start(process.Tracer(), process.Threads()[0].PID); err != nil {
		return nil, err
	}
	if err := runToEnd(ctx, process); err != nil {
		return nil, err
	}
	if err := engine.Stop(trace.ReasonStop, "the program has ended"); err != nil {
		return nil, err
	}
	description := strings.TrimRight(string(process.Description().XML()), "\n")
	return &demonstration{engine: engine, description: description}, nil
}

// defineDemo defines the variable and the tracepoint, in that order, as bytecode refers to the variable by its number.
func defineDemo(engine *tracepoint.Engine, layout *tdesc.Layout) error {
	t, err := demoTracepoint(layout)
	if err != nil {
		return err
	}
	engine.SetNotes(demoQuestion)
	if err := engine.DefineVariable(crowded); err != nil {
		return err
	}
	return engine.Define(t, false)
}

// runToEnd resumes a process until it exits with status 0 or the context ends. A signal stops the process first; it is delivered
// with the next resumption, but for SIGTRAP, which belongs to the tracer.
func runToEnd(ctx context.Context, process target.Target) error {
	runner := process.Runner()
	everything := target.ThreadID{PID: target.All, TID: target.All}
	next := target.Action{Thread: everything}
	// In all-stop mode each Resume is answered by one event.
	for {
		if err := runner.Resume([]target.Action{next}); err != nil {
			return err
		}
		var event target.Event
		select {
		case event = <-runner.Events():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		switch {
		case event.Kind == target.Exited && event.Code == 0:
			return nil
		case event.Kind == target.Exited:
			return fmt.Errorf("the program ended with exit status %d", event.Code)
		case event.Kind == target.Terminated:
			return fmt.Errorf("the program was killed by signal %d", event.Signal)
		case event.Signal == target.SignalTrap:
			next.Signal = 0
		default:
			next.Signal = event.Signal
		}
	}
}
