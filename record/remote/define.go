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

// usualBuffers are sizes of the server's buffer, of which the first that it takes is used where nobody says how large it is to be.
// While frames are fetched the buffer still keeps them, so that it is to hold all of a run.
var usualBuffers = []int64{256 << 20, 64 << 20, 16 << 20}

// prepare gives the server all that it needs for the run.
func (s *Session) prepare(found []trace.Tracepoint) error {
	if err := s.server.command(request.TraceInit); err != nil {
		return err
	}
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

// define gives the server tracepoints, none of them if it cannot do one of them.
func (s *Session) define(found []trace.Tracepoint) error {
	s.finder.Complete(found)
	for i := range found {
		found[i].Static = false // a probe is a place like any other to the server; its semaphore is for us
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

// send sends the packets of one definition.
func (s *Session) send(d *trace.Tracepoint) error {
	return s.server.Define(d, func(packet string) bool {
		source := strings.HasPrefix(packet, request.AddSource.Prefix) // which is in the file, too
		return !source || s.server.Features().Has("TracepointSource") && len(packet) <= s.server.PacketSize()
	})
}

// demand is an error if the server has no means for a tracepoint.
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

// collectsString reports whether an action ends at a zero byte.
func collectsString(a trace.Action) bool {
	if a.Kind != trace.CollectExpression {
		return false
	}
	p, err := ax.Decode(a.Code)
	return err == nil && strings.Contains(p.String(), "tracenz")
}

// settle tells the server what holds for the run as a whole.
func (s *Session) settle() error {
	c := &s.config
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

// annotate tells the server what it may have no place for: notes, and which memory never changes.
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
		if len(packet) > s.server.PacketSize() {
			continue
		}
		if _, err := s.server.Exchange(packet); err != nil {
			return err
		}
	}
	return nil
}

// watchLinker sets the breakpoint by which the dynamic linker tells of libraries, if more can be traced while the run is on.
func (s *Session) watchLinker() error {
	if s.debug == 0 || s.config.Disconnected || !s.server.Features().Has("InstallInTrace") {
		for _, t := range s.finder.Points {
			if t.Pending != nil {
				s.warnings = append(s.warnings, fmt.Errorf("tracepoint %d: libraries that are loaded from now on are not looked at", t.Number))
			}
		}
		return nil
	}
	at, err := s.server.word(s.debug + debugBreak)
	if err == nil {
		err = s.insert(arch.Addr(at))
	}
	if err != nil {
		s.warnings = append(s.warnings, fmt.Errorf("libraries that are loaded from now on are not looked at: %w", err))
		return nil
	}
	s.linker = arch.Addr(at)
	return nil
}

// raise adds to the semaphores of static tracepoints, by which the program learns that it is traced, each once.
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

// lower takes back what raise has done.
func (s *Session) lower() error {
	var errs []error
	for at := range s.raised {
		errs = append(errs, s.addTo(at, -1))
	}
	clear(s.raised)
	return errors.Join(errs...)
}

// addTo changes a counter of two bytes.
func (s *Session) addTo(at arch.Addr, n int) error {
	b, err := s.server.memory(at, 2)
	if err != nil {
		return err
	}
	b = binary.LittleEndian.AppendUint16(nil, binary.LittleEndian.Uint16(b)+uint16(n))
	return s.server.WriteMemory(at, b)
}
