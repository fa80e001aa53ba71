// Package left leaves trace runs to stubs that have tracepoints of their own, gdbserver or tracewell serve, and fetches what
// such runs have collected: of Start, or of a GDB that has disconnected from one.
//
// A run that is left has everything that a client needs to look at it: tracepoints with the numbers of their user and the source of
// their expressions, variables with names. So Fetch needs no plan, and stock GDB can connect, too.
//
// Nothing that a stub sends is trusted: what makes no sense is an error that says so.
package left

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/tfile"
	"tracewell/trace"
)

// Run is what is left to a stub.
type Run struct {
	// Definitions are those of the run: the order, the variables, the tracepoints and, of the status, user and notes.
	Definitions tfile.Header
	// Semaphores are 16-bit counters in the program, by which it learns that its static probes are traced. One is added to each, and
	// stays: nobody is there to take it back.
	Semaphores []arch.Addr
	Buffer     int64 // bytes of the stub's buffer, 0 for as many as it has, up to 256 MiB
	Circular   bool  // a full buffer drops its oldest frames
}

// usualBuffers are sizes of the stub's buffer to try, largest first, if the user asks for none. Frames stay in it until somebody
// fetches them, and gdbserver's default of 5 MB is full in a moment.
var usualBuffers = []int64{256 << 20, 64 << 20, 16 << 20}

// Start defines a run at a stub and begins it. The run goes on when the client leaves, until the stub ends it. The error says
// what the stub cannot do; nothing has been defined then that would be traced.
func Start(c *client.Client, run Run) error {
	if !c.Features().Has("DisconnectedTracing") {
		return errors.New("the stub does not trace without a client (it lacks DisconnectedTracing)")
	}
	builtins, err := client.List(c, request.FirstVariable, request.MoreVariables, reply.Variables)
	if err != nil {
		return fmt.Errorf("the stub has no tracepoints: %w", err)
	}
	tracepoints := run.Definitions.Tracepoints
	for i := range tracepoints {
		if err := demand(c, &tracepoints[i], run.Definitions.Variables, builtins); err != nil {
			return fmt.Errorf("tracepoint %d at %s: %w", tracepoints[i].Number, tracepoints[i].Source.At, err)
		}
	}
	// It drops all definitions of an earlier client.
	if err := client.Command(c, request.TraceInit, request.None{}); err != nil {
		return err
	}
	// Variables come before the tracepoints whose bytecode refers to them.
	for _, v := range run.Definitions.Variables {
		if v.Builtin {
			continue
		}
		if err := client.Command(c, request.DefineVariable, v); err != nil {
			return err
		}
	}
	for i := range tracepoints {
		if err := c.Define(&tracepoints[i], func(packet string) bool { return !isSource(packet) || takesSource(c, packet) }); err != nil {
			return fmt.Errorf("tracepoint %d: %w", tracepoints[i].Number, err)
		}
	}
	if err := settle(c, run); err != nil {
		return err
	}
	for _, at := range run.Semaphores {
		if err := raise(c, run.Definitions.Order, at); err != nil {
			return fmt.Errorf("the semaphore of a probe: %w", err)
		}
	}
	return client.Command(c, request.TraceStart, request.None{})
}

// isSource reports whether a packet of a definition has source text, which stubs only store for other clients.
func isSource(packet string) bool { return strings.HasPrefix(packet, request.AddSource.Prefix) }

func takesSource(c *client.Client, packet string) bool {
	return c.Features().Has("TracepointSource") && len(packet) <= c.PacketSize()
}

// demand returns an error if the stub does not support what a tracepoint needs. Stubs ignore options of QTDP that they do not
// support, and would record every hit of a tracepoint whose condition they have dropped.
func demand(c *client.Client, d *trace.Tracepoint, variables, builtins []trace.Variable) error {
	if d.Condition != nil && !c.Features().Has("ConditionalTracepoints") {
		return errors.New("the stub knows no conditions of tracepoints")
	}
	var programs [][]byte
	if d.Condition != nil {
		programs = append(programs, d.Condition)
	}
	for _, a := range slices.Concat(d.Actions, d.StepActions) {
		if a.Kind == trace.CollectExpression {
			programs = append(programs, a.Code)
		}
	}
	for _, code := range programs {
		if err := demandOf(c, code, variables, builtins); err != nil {
			return err
		}
	}
	for _, packet := range d.Packets() {
		if most := c.PacketSize(); len(packet) > most && !isSource(packet) {
			return fmt.Errorf("an expression takes a packet of %d bytes, and the stub takes no more than %d", len(packet), most)
		}
	}
	return nil
}

// demandOf is demand of one expression.
func demandOf(c *client.Client, code []byte, variables, builtins []trace.Variable) error {
	program, err := ax.Decode(code)
	if err != nil {
		return err
	}
	for in := range program.Instructions() {
		switch in.Op {
		// An opcode that is newer than agent expressions are.
		case ax.OpTracenz:
			if !c.Features().Has("tracenz") {
				return errors.New("the stub cannot collect strings (collect/s)")
			}
		case ax.OpGetv, ax.OpSetv, ax.OpTracev:
			same := func(v trace.Variable) bool { return v.Builtin && v.Number == trace.VariableNumber(in.Operand) }
			if i := slices.IndexFunc(variables, same); i >= 0 && !slices.ContainsFunc(builtins, same) {
				return fmt.Errorf("the stub has no $%s", variables[i].Name)
			}
		}
	}
	return nil
}

// settle configures the trace buffer, the notes, and that the run goes on when the connection ends.
func settle(c *client.Client, run Run) error {
	// A stub without the packet has a buffer that does not wrap, which is what is wanted mostly.
	if err := client.Command(c, request.CircularBuffer, run.Circular); err != nil && (run.Circular || !client.IsUnsupported(err)) {
		return err
	}
	switch sized := c.Features().Has("QTBuffer:size"); {
	case run.Buffer > 0 && !sized:
		return errors.New("the stub does not let others say how large its buffer is")
	case run.Buffer > 0:
		if err := client.Command(c, request.BufferSize, run.Buffer); err != nil {
			return err
		}
	case sized:
		// gdbserver allocates the buffer at once, and rejects a size for which it has no memory.
		for _, size := range usualBuffers {
			if err := client.Command(c, request.BufferSize, size); err == nil {
				break
			} else if !client.Rejected(err) {
				return err
			}
		}
	}
	notes := []request.Note{{Key: "user", Text: run.Definitions.Status.User}, {Key: "notes", Text: run.Definitions.Status.Notes}}
	// gdbserver reads no further than its buffer, and would answer what is cut off.
	if packet := request.TraceNotes.Append(nil, notes); len(packet) <= c.PacketSize() {
		if _, err := c.Exchange(packet); err != nil { // a stub may ignore notes
			return err
		}
	}
	return client.Command(c, request.Disconnected, true)
}

// raise adds one to a semaphore.
func raise(c *client.Client, order arch.ByteOrder, at arch.Addr) error {
	b, err := c.ReadMemory(at, 2)
	if err != nil {
		return err
	}
	order.PutUint16(b, order.Uint16(b)+1)
	return c.WriteMemory(at, b)
}
