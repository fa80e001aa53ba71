package perfetto

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"strings"

	"tracewell/internal/protobuf"
	"tracewell/internal/trackevent"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/export"
)

// Writer writes frames of a view, whose registers Select may have chosen. One goroutine may use it.
type Writer struct {
	out     io.Writer
	table   *export.Table
	view    *view.View
	program string
	flow    *view.Expression // nil for none

	tracks map[trackKey]bool // that are declared
	slices map[trackKey]*nest
	dated  bool   // the clocks are told
	last   uint64 // the time of the frame before, in nanoseconds
	packet trackevent.Packets
	event  protobuf.Message
	inner  protobuf.Message
}

// trackKey is what makes a track one of its own: a process, a thread or goroutine of it, or a counter in it.
type trackKey struct {
	pid, tid, goroutine int64
	counter             string
}

// process is the track that a track is within.
func (k trackKey) process() trackKey { return trackKey{pid: k.pid, tid: unknown} }

// nest is the slices of a track that have begun and not ended.
type nest struct {
	ends []int  // the frames at which they will: the innermost last
	last uint64 // when one began or ended last
}

// unknown stands for the number of a process or thread that frames do not tell.
const unknown = -1

// uuid is the number of a track, which no other has.
func (k trackKey) uuid() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d/%d/%s", k.pid, k.tid, k.goroutine, k.counter)
	return h.Sum64() | 1 // 0 is the track of everything
}

// NewWriter begins a trace. Frames in which the expression flow has the same value are joined; "" is for none. The error is one of
// reading the trace, or about that expression.
func NewWriter(out io.Writer, v *view.View, flow string) (*Writer, error) {
	table, err := export.New(v)
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, table: table, view: v, program: programOf(v), tracks: make(map[trackKey]bool),
		slices: make(map[trackKey]*nest)}
	if flow != "" {
		if w.flow, err = v.Expression(flow); err != nil {
			return nil, fmt.Errorf("--flow: %w", err)
		}
	}
	return w, nil
}

// programOf names the program that was traced, as far as the file tells.
func programOf(v *view.View) string {
	path := "program"
	if objects := tfile.Objects(v.Content.Header().Description); len(objects) > 0 {
		path = objects[0].Path
	} else if v.Symbols != nil {
		path = v.Symbols.Main().Path()
	}
	return strings.ToValidUTF8(filepath.Base(path), "\ufffd")
}

// Flush is there so that all writers of frames are used alike; nothing is held back.
func (w *Writer) Flush() error { return nil }

// Add writes a frame: the tracks that it is the first on, and its event.
func (w *Writer) Add(frame view.Frame) error {
	cells := w.table.Read(frame)
	w.packet.Reset()
	w.setTime(frame)
	track := w.trackOf(frame)
	w.declare(track)
	w.event = w.event[:0]
	w.event.Uint(trackevent.EventType, w.typeOf(frame, track))
	w.event.Uint(trackevent.EventTrack, track.uuid())
	w.event.Text(trackevent.EventCategory, "tracepoint")
	w.event.Text(trackevent.EventName, w.nameOf(frame))
	if w.flow != nil {
		if value, ok := w.flow.Value(w.table.Reader()); ok {
			w.event.Fixed(trackevent.EventFlow, flowOf(value.Bits))
		}
	}
	for i, c := range w.table.Columns {
		if cells[i].Known {
			w.annotate(c, cells[i])
			w.count(track, c, cells[i])
		}
	}
	w.packet.Add(trackevent.PacketEvent, w.event, w.last)
	_, err := w.out.Write(w.packet.Bytes())
	return err
}

// trackOf is the track of a frame.
func (w *Writer) trackOf(frame view.Frame) trackKey {
	track := trackKey{pid: numberOf(frame, trace.ProcessID)}
	if g, ok := w.table.Reader().Goroutine(); ok {
		track.tid, track.goroutine = unknown, g
	} else {
		track.tid = numberOf(frame, trace.ThreadID)
	}
	return track
}

// typeOf tells whether a frame begins or ends a slice. Slices of a track must lie within one another, as the end of one is that of
// the innermost. So a call that ends after the one that it seems to be in, which two tracepoints on one function make, is none.
// Nor may time go back, which it seems to by a microsecond between a pad and a hit that stops the thread.
func (w *Writer) typeOf(frame view.Frame, track trackKey) uint64 {
	end, ok := w.view.CallEnd(frame)
	if !ok {
		return trackevent.TypeInstant
	}
	n := w.slices[track]
	if n == nil {
		n = &nest{}
		w.slices[track] = n
	}
	inner := len(n.ends) - 1
	kind := uint64(trackevent.TypeBegin)
	switch ends := frame.Return != nil; {
	case ends && inner >= 0 && n.ends[inner] == end:
		kind, n.ends = trackevent.TypeEnd, n.ends[:inner]
	case !ends && (inner < 0 || end < n.ends[inner]):
		n.ends = append(n.ends, end)
	default:
		return trackevent.TypeInstant
	}
	n.last = max(n.last, w.last)
	w.last = n.last
	return kind
}

// nameOf is what a frame is called: the location that the user set, marked for frames of while-stepping, which were made elsewhere.
func (w *Writer) nameOf(frame view.Frame) string {
	name := strings.ToValidUTF8(w.view.SourceOf(frame), "\ufffd")
	if name == "" {
		name = fmt.Sprintf("tracepoint %d", frame.Tracepoint())
	}
	if w.view.Stepped(frame) {
		name += " (step)"
	}
	return name
}

// setTime finds when a frame was made. With the first that tells the date, Perfetto is told how its clock relates to the calendar.
func (w *Writer) setTime(frame view.Frame) {
	stamp, ok := export.TimeOf(frame)
	if !ok || stamp < 0 || stamp > math.MaxInt64/1000 {
		w.last++
		return
	}
	w.last = uint64(stamp) * 1000
	if exact := numberOf(frame, trace.Nanoseconds); exact > 0 {
		w.last = uint64(exact)
	}
	if w.dated {
		return
	}
	w.dated = true
	w.event = w.event[:0]
	for _, id := range []uint64{trackevent.ClockBoottime, trackevent.ClockRealtime} {
		w.inner = w.inner[:0]
		w.inner.Uint(trackevent.ClockID, id)
		w.inner.Uint(trackevent.ClockTimestamp, w.last)
		w.event.Bytes(trackevent.SnapshotClock, w.inner)
	}
	w.packet.Add(trackevent.PacketClocks, w.event, w.last)
}

// declare describes a track, and those that it is within, when it first has an event.
func (w *Writer) declare(k trackKey) {
	if w.tracks[k] {
		return
	}
	w.tracks[k] = true
	var descriptor, inner protobuf.Message
	descriptor.Uint(trackevent.DescriptorUUID, k.uuid())
	process := k.process()
	if k != process {
		w.declare(process)
		descriptor.Uint(trackevent.DescriptorParent, process.uuid())
	}
	switch {
	case k.counter != "":
		descriptor.Text(trackevent.DescriptorName, k.counter)
		descriptor.Bytes(trackevent.DescriptorCounter, nil)
	case k == process && k.pid == unknown:
		descriptor.Text(trackevent.DescriptorName, w.program)
	case k == process:
		inner.Int(trackevent.ProcessPID, k.pid)
		inner.Text(trackevent.ProcessName, w.program)
		descriptor.Bytes(trackevent.DescriptorProcess, inner)
	case k.goroutine != 0:
		descriptor.Text(trackevent.DescriptorName, fmt.Sprintf("goroutine %#x", k.goroutine))
	case k.pid == unknown:
		descriptor.Text(trackevent.DescriptorName, w.threadName(k.tid))
	default:
		inner.Int(trackevent.ThreadPID, k.pid)
		inner.Int(trackevent.ThreadTID, k.tid)
		inner.Text(trackevent.ThreadName, w.threadName(k.tid))
		descriptor.Bytes(trackevent.DescriptorThread, inner)
	}
	w.packet.Add(trackevent.PacketDescriptor, descriptor, w.last)
}

// threadName is the name of a thread: the last that it had, as Perfetto knows one only, or its number.
func (w *Writer) threadName(tid int64) string {
	if name, ok := w.view.LastName(tid); ok {
		return strings.ToValidUTF8(name, "\ufffd")
	}
	return fmt.Sprintf("thread %d", tid)
}

// annotate adds a value to the arguments of the event.
func (w *Writer) annotate(c export.Column, cell export.Cell) {
	a := w.inner[:0]
	a.Text(trackevent.AnnotationName, c.Name)
	switch c.Kind {
	case export.Text:
		a.Bytes(trackevent.AnnotationString, cell.Text)
	case export.Truth:
		a.Uint(trackevent.AnnotationBool, cell.Bits)
	case export.Float:
		a.Double(trackevent.AnnotationDouble, math.Float64frombits(cell.Bits))
	case export.Address:
		a.Uint(trackevent.AnnotationPointer, cell.Bits)
	case export.Unsigned:
		a.Uint(trackevent.AnnotationUint, cell.Bits)
	default:
		a.Int(trackevent.AnnotationInt, int64(cell.Bits))
	}
	w.inner = a
	w.event.Bytes(trackevent.EventAnnotation, a)
}

// count adds a number that a tracepoint collects by name to its counter. Whole numbers above those of int64 become fractional ones.
func (w *Writer) count(of trackKey, c export.Column, cell export.Cell) {
	if !c.Item {
		return
	}
	track := of.process()
	track.counter = c.Name
	f := math.Float64frombits(cell.Bits)
	switch {
	case c.Kind == export.Unsigned && int64(cell.Bits) < 0:
		f = float64(cell.Bits)
	case c.Kind == export.Integer, c.Kind == export.Unsigned:
		w.declare(track)
		w.event.Uint(trackevent.EventCounterTracks, track.uuid())
		w.event.Int(trackevent.EventCounters, int64(cell.Bits))
		return
	case c.Kind != export.Float, math.IsNaN(f), math.IsInf(f, 0): // no place on an axis
		return
	}
	w.declare(track)
	w.event.Uint(trackevent.EventDoubleTracks, track.uuid())
	w.event.Double(trackevent.EventDoubleCounters, f)
}

// numberOf is the number of the process or thread that made a frame.
func numberOf(frame view.Frame, n trace.VariableNumber) int64 {
	if value, ok := export.VariableOf(frame, int32(n)); ok {
		return value
	}
	return unknown
}

// flowOf makes the number of a flow of a value; 0 would be none.
func flowOf(bits uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d", bits)
	return h.Sum64() | 1
}
