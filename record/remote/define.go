package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/trace"
)

// usualBuffers are sizes of the server's buffer, of which the first that it takes is used where nobody says how large it is to be.
// While frames are fetched the buffer still keeps them, so that it is to hold all of a run.
var usualBuffers = []int64{256 << 20, 64 << 20, 16 << 20}

// prepare gives the server all that it needs for the run.
func (s *Session) prepare(found []trace.Tracepoint) error {
	if err := s.server.tell("QTinit"); err != nil {
		return err
	}
	for _, v := range s.finder.Variables() {
		if err := s.server.tell("QTDV:" + v.String()); err != nil {
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
	for _, packet := range d.Packets() {
		if strings.HasPrefix(packet, "QTDPsrc:") && (!s.server.features.Has("TracepointSource") || len(packet) > s.server.packet) {
			continue // it is in the file
		}
		if err := s.server.tell(packet); err != nil {
			return err
		}
	}
	return nil
}

// demand is an error if the server has no means for a tracepoint.
func (s *Session) demand(d *trace.Tracepoint) error {
	lacks := func(format string, args ...any) error {
		return fmt.Errorf("tracepoint %d at %s: %s", d.Number, d.Source.At, fmt.Sprintf(format, args...))
	}
	if d.Condition != nil && !s.server.features.Has("ConditionalTracepoints") {
		return lacks("the server knows no conditions of tracepoints")
	}
	for _, actions := range [][]trace.Action{d.Actions, d.StepActions} {
		for _, a := range actions {
			if collectsString(a) && !s.server.features.Has("tracenz") {
				return lacks("the server cannot collect strings (collect/s)")
			}
		}
	}
	for _, packet := range d.Packets() {
		if len(packet) > s.server.packet && !strings.HasPrefix(packet, "QTDPsrc:") {
			return lacks("an expression takes a packet of %d bytes, and the server takes no more than %d", len(packet), s.server.packet)
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
	if err := s.server.tell("QTBuffer:circular:" + flag(c.Circular)); err != nil && (c.Circular || !errors.Is(err, errUnknown)) {
		return err
	}
	switch sized := s.server.features.Has("QTBuffer:size"); {
	case c.Buffer > 0 && !sized:
		return errors.New("the server does not let others say how large its buffer is")
	case c.Buffer > 0:
		if err := s.server.tell(fmt.Sprintf("QTBuffer:size:%x", c.Buffer)); err != nil {
			return err
		}
	case sized:
		for _, size := range usualBuffers {
			err := s.server.tell(fmt.Sprintf("QTBuffer:size:%x", size))
			if err == nil {
				break
			}
			if refused := new(refusal); !errors.As(err, &refused) {
				return err
			}
		}
	}
	if !s.server.features.Has("DisconnectedTracing") {
		if c.Disconnected {
			return errors.New("the server does not trace without a client (it lacks DisconnectedTracing)")
		}
		return nil
	}
	return s.server.tell("QTDisconnected:" + flag(c.Disconnected))
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// annotate tells the server what it may have no place for: notes, and which memory never changes.
func (s *Session) annotate() error {
	packets := []string{fmt.Sprintf("QTNotes:user:%x;notes:%x;", s.config.User, s.config.Notes)}
	constant := "QTro"
	for _, name := range []string{".rodata", ".text", ".eh_frame"} {
		if content, at, ok := s.program.Main().File().Section(name); ok {
			at += s.program.Main().Bias()
			constant += fmt.Sprintf(":%x,%x", uint64(at), uint64(at)+uint64(len(content)))
		}
	}
	for _, packet := range append(packets, constant) {
		if len(packet) > s.server.packet {
			continue
		}
		if _, err := s.server.exchange(packet); err != nil {
			return err
		}
	}
	return nil
}

// watchLinker sets the breakpoint by which the dynamic linker tells of libraries, if more can be traced while the run is on.
func (s *Session) watchLinker() error {
	if s.debug.RDebug == 0 || s.config.Disconnected || !s.server.features.Has("InstallInTrace") {
		for _, t := range s.finder.Points {
			if t.Pending != nil {
				s.warnings = append(s.warnings, fmt.Errorf("tracepoint %d: libraries that are loaded from now on are not looked at", t.Number))
			}
		}
		return nil
	}
	if err := s.breakpoint("Z", s.debug.Break); err != nil {
		s.warnings = append(s.warnings, fmt.Errorf("libraries that are loaded from now on are not looked at: %w", err))
		return nil
	}
	s.linker = s.debug.Break
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
	return s.server.tell(fmt.Sprintf("M%x,2:%x", uint64(at), b))
}
