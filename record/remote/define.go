package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// usualBuffers are sizes of the server's buffer to try, largest first, if the user asks for none. Fetching a frame
// does not remove it, so the buffer has to hold all frames of a run; gdbserver's default of 5 MB is full in a moment.
var usualBuffers = []int64{256 << 20, 64 << 20, 16 << 20}

// prepare defines the run at the server. QTinit comes first: it drops all definitions of an earlier client. Variables
// come before the tracepoints whose bytecode refers to them.
func (s *Session) prepare(found []trace.Tracepoint) error {
	if err := s.server.command(request.TraceInit); err != nil {
		return err
	}
	// Servers know variables by number, and frames record the number only.
	for _, v := range s.finder.Variables() {
		if err := client.Command(s.server.Client, request.DefineVariable, v); err != nil {
			return err
		}
	}
	if err := s.define(found); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.annotate(); err != nil {
		return err
	}
	return s.watchLinker()
}

// define defines tracepoints at the server. All are checked before the first is sent, so that an error leaves none of
// them behind.
func (s *Session) define(found []trace.Tracepoint) error {
	s.finder.Complete(found)
	for i := range found {
		// QTDP with S is for markers of gdbserver's in-process agent. A probe is a place in the code like any other; only its
		// semaphore is left, which raise increments.
		found[i].Static = false
		if err := s.demand(&found[i]); err != nil {
			return err
		}
	}
	for i := range found {
		if err := s.send(&found[i]); err != nil {
			return fmt.Errorf("tracepoint %d: %w", found[i].Number, err)
		}
		s.finder.Defined = append(s.finder.Defined, found[i])
	}
	return nil
}

// send sends the packets of one definition. QTDPsrc has the source text of the expressions, which the server only
// stores for other clients; the trace file gets it from the plan in any case.
func (s *Session) send(d *trace.Tracepoint) error {
	return s.server.Define(d, func(packet string) bool {
		source := strings.HasPrefix(packet, request.AddSource.Prefix) // which is in the file, too
		return !source || s.server.Features().Has("TracepointSource") && len(packet) <= s.server.PacketSize()
	})
}

// demand returns an error if the server does not support what a tracepoint needs. Servers ignore options of QTDP that
// they do not support, and would record every hit of a tracepoint whose condition they have dropped.
func (s *Session) demand(d *trace.Tracepoint) error {
	lacks := func(format string, args ...any) error {
		return fmt.Errorf("tracepoint %d at %s: %s", d.Number, d.Source.At, fmt.Sprintf(format, args...))
	}
	if d.Condition != nil && !s.server.Features().Has("ConditionalTracepoints") {
		return lacks("the server knows no conditions of tracepoints")
	}
	for _, actions := range [][]trace.Action{d.Actions, d.StepActions} {
		for _, a := range actions {
			if collectsString(a) && !s.server.Features().Has("tracenz") {
				return lacks("the server cannot collect strings (collect/s)")
			}
		}
	}
	for _, packet := range d.Packets() {
		if most := s.server.PacketSize(); len(packet) > most && !strings.HasPrefix(packet, request.AddSource.Prefix) {
			return lacks("an expression takes a packet of %d bytes, and the server takes no more than %d", len(packet), most)
		}
	}
	return nil
}

// collectsString reports whether an action collects a string up to its zero byte: an opcode of its own, tracenz,
// which is newer than agent expressions are.
func collectsString(a trace.Action) bool {
	if a.Kind != trace.CollectExpression {
		return false
	}
	p, err := ax.Decode(a.Code)
	return err == nil && strings.Contains(p.String(), "tracenz")
}

// settle configures the trace buffer, and what becomes of the run when the connection ends.
func (s *Session) settle() error {
	c := &s.config
	// A server without the packet has a buffer that does not wrap, which is what is wanted mostly.
	err := client.Command(s.server.Client, request.CircularBuffer, c.Circular)
	if err != nil && (c.Circular || !errors.As(err, new(*client.UnsupportedError))) {
		return err
	}
	switch sized := s.server.Features().Has("QTBuffer:size"); {
	case c.Buffer > 0 && !sized:
		return errors.New("the server does not let others say how large its buffer is")
	case c.Buffer > 0:
		if err := client.Command(s.server.Client, request.BufferSize, c.Buffer); err != nil {
			return err
		}
	case sized:
		// gdbserver allocates the buffer at once, and rejects a size for which it has no memory.
		for _, size := range usualBuffers {
			err := client.Command(s.server.Client, request.BufferSize, size)
			if err == nil {
				break
			}
			if !client.Rejected(err) {
				return err
			}
		}
	}
	if !s.server.Features().Has("DisconnectedTracing") {
		if c.Disconnected {
			return errors.New("the server does not trace without a client (it lacks DisconnectedTracing)")
		}
		return nil
	}
	return client.Command(s.server.Client, request.Disconnected, c.Disconnected)
}

// annotate sends what a server may ignore: the notes of the run, and the ranges of constant memory (QTro), which
// clients may read from the server while they look at frames that did not collect it. Too long for a packet, or
// without an answer, it is left out.
func (s *Session) annotate() error {
	notes := []request.Note{{Key: "user", Text: s.config.User}, {Key: "notes", Text: s.config.Notes}}
	var constant []request.Range
	for _, name := range []string{".rodata", ".text", ".eh_frame"} {
		if content, at, ok := s.program.Main().File().Section(name); ok {
			at += s.program.Main().Bias()
			constant = append(constant, request.Range{Start: at, End: at + arch.Addr(len(content))})
		}
	}
	for _, packet := range [][]byte{request.TraceNotes.Append(nil, notes), request.ReadOnlyRanges.Append(nil, constant)} {
		// gdbserver reads no further than its buffer, and would answer what is cut off.
		if len(packet) > s.server.PacketSize() {
			continue
		}
		if _, err := s.server.Exchange(packet); err != nil {
			return err
		}
	}
	return nil
}

// watchLinker inserts the breakpoint at which the dynamic linker reports libraries, if tracepoints can be added to a
// run (InstallInTrace). If this client leaves the run to the server, nobody would resume the thread that stops there.
func (s *Session) watchLinker() error {
	if s.debug.RDebug == 0 || s.config.Disconnected || !s.server.Features().Has("InstallInTrace") {
		for _, t := range s.finder.Points {
			if t.Pending != nil {
				s.warnings = append(s.warnings, fmt.Errorf("tracepoint %d: libraries that are loaded from now on are not looked at", t.Number))
			}
		}
		return nil
	}
	if err := s.insert(s.debug.Break); err != nil {
		s.warnings = append(s.warnings, fmt.Errorf("libraries that are loaded from now on are not looked at: %w", err))
		return nil
	}
	s.linker = s.debug.Break
	return nil
}

// raise increments the semaphores of probes, once each: the program skips a probe whose semaphore is zero. A server
// that takes a probe for a place like any other does not do that by itself.
func (s *Session) raise() error {
	for _, all := range s.finder.Semaphores {
		for _, at := range all {
			if s.raised[at] {
				continue
			}
			if err := s.addTo(at, 1); err != nil {
				return fmt.Errorf("the semaphore of a probe: %w", err)
			}
			s.raised[at] = true
		}
	}
	return nil
}

// lower decrements the semaphores again. Others may trace the same program, so that the old value must not be written
// back.
func (s *Session) lower() error {
	var errs []error
	// Each is tried, whatever becomes of the others: one may be in a library that was unloaded.
	for at := range s.raised {
		errs = append(errs, s.addTo(at, -1))
	}
	clear(s.raised)
	return errors.Join(errs...)
}

// addTo adds to a semaphore, an unsigned 16-bit counter in the program's byte order. The threads run, so that an
// increment of the program's own between the two packets is lost; programs only read it.
func (s *Session) addTo(at arch.Addr, n int) error {
	b, err := s.server.memory(at, 2)
	if err != nil {
		return err
	}
	// Only x86-64 gets here, see describe.
	b = binary.LittleEndian.AppendUint16(nil, binary.LittleEndian.Uint16(b)+uint16(n))
	return s.server.WriteMemory(at, b)
}
