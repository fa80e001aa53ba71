package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tracewell/internal/protobuf"
	"tracewell/internal/trackevent"
	"tracewell/itrace/calls"
)

// Slices writes a trace of Perfetto while an execution trace is read: it is a Listener.
type Slices struct {
	out     *bufio.Writer
	walker  *calls.Walker
	timed   bool
	tracks  map[int32]*track
	packets trackevent.Packets
	event   protobuf.Message
}

// track is a processor.
type track struct {
	uuid    uint64
	open    []slice
	written int // how many of open have been written: the others began before what is asked about
}

type slice struct {
	function int32
	handler  bool
}

// NewSlices returns a writer for a walker that has read nothing yet. The axis is of the trace's time, or of instructions.
func NewSlices(out io.Writer, w *calls.Walker, timed bool) *Slices {
	return &Slices{out: bufio.NewWriter(out), walker: w, timed: timed, tracks: make(map[int32]*track)}
}

// Begin implements calls.Listener.
func (s *Slices) Begin(cpu, function int32, handler bool, at int64, time uint64) {
	t := s.track(cpu)
	if at >= s.walker.From {
		s.catchUp(t, s.walker.From, time)
	}
	t.open = append(t.open, slice{function, handler})
	if at >= s.walker.From {
		s.catchUp(t, at, time)
	}
}

// End implements calls.Listener.
func (s *Slices) End(cpu int32, at int64, time uint64) {
	t := s.track(cpu)
	if at > s.walker.From {
		s.catchUp(t, s.walker.From, time)
	}
	if len(t.open) == 0 {
		return
	}
	t.open = t.open[:len(t.open)-1]
	if t.written > len(t.open) {
		t.written--
		s.write(t, trackevent.TypeEnd, "", s.axis(at, time))
	}
}

// Close ends what is still open, at the end of the trace.
func (s *Slices) Close(at int64, time uint64) error {
	for cpu, t := range s.tracks {
		for len(t.open) > 0 {
			s.End(cpu, at, time)
		}
	}
	return s.out.Flush()
}

// catchUp writes the slices that are open and have not been written: those that began in front of what is asked about begin with
// that.
func (s *Slices) catchUp(t *track, at int64, time uint64) {
	for ; t.written < len(t.open); t.written++ {
		o := t.open[t.written]
		name := Name(s.walker.Functions[o.function])
		if o.handler {
			name = "[handler] " + name
		}
		s.write(t, trackevent.TypeBegin, strings.ToValidUTF8(name, "\ufffd"), s.axis(at, time))
	}
}

func (s *Slices) axis(at int64, time uint64) uint64 {
	if s.timed {
		return time
	}
	return uint64(at)
}

func (s *Slices) track(cpu int32) *track {
	t := s.tracks[cpu]
	if t == nil {
		t = &track{uuid: uint64(cpu) + 1} // 0 is the track of everything
		s.tracks[cpu] = t
		s.event = s.event[:0]
		s.event.Uint(trackevent.DescriptorUUID, t.uuid)
		s.event.Text(trackevent.DescriptorName, fmt.Sprintf("cpu %d", cpu))
		s.packets.Add(trackevent.PacketDescriptor, s.event, 0)
		s.flush()
	}
	return t
}

func (s *Slices) write(t *track, kind uint64, name string, time uint64) {
	s.event = s.event[:0]
	s.event.Uint(trackevent.EventType, kind)
	s.event.Uint(trackevent.EventTrack, t.uuid)
	if name != "" {
		s.event.Text(trackevent.EventName, name)
	}
	s.packets.Add(trackevent.PacketEvent, s.event, time)
	s.flush()
}

// flush hands on the packets. The error of a writer stays until Close returns it.
func (s *Slices) flush() {
	s.out.Write(s.packets.Bytes())
	s.packets.Reset()
}
