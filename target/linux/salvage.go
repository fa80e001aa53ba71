//go:build linux

package linux

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"tracewell/ax"
	"tracewell/internal/fast"
	"tracewell/internal/sys"
	"tracewell/target/linux/internal/patch"
	"tracewell/tfile"
	"tracewell/trace"
)

// Salvaged is what a tracer that was killed has not fetched of one run.
type Salvaged struct {
	Header tfile.Header // as far as it is known
	Frames [][]byte     // in the bytes of a trace file
	// Kept says how many bytes of frames the tracer had written to a file for certain that came before these. What the file has
	// behind them may be of these frames: see Beyond.
	Kept uint64
}

// Beyond drops the frames that the trace file of their run has, and returns how many those are: a tracer is killed with frames that
// are in its file and in the ring. Between them the file may have frames of hits that stopped a thread, or of other programs.
func (s *Salvaged) Beyond(f *tfile.File) (dropped int, err error) {
	var buf []byte
	for i := s.firstBeyond(f); i < f.NumFrames() && dropped < len(s.Frames); i++ {
		frame, err := f.ReadFrame(i, buf)
		if err != nil {
			return 0, err
		}
		buf = frame.Bytes()
		if sameFrame(buf, s.Frames[dropped], s.Header) {
			dropped++
		}
	}
	s.Frames = s.Frames[dropped:]
	return dropped, nil
}

// firstBeyond is the first frame of a file behind those that the tracer had counted as kept. A file that has fewer is not the
// run's, or was cut.
func (s *Salvaged) firstBeyond(f *tfile.File) int {
	return sort.Search(f.NumFrames(), func(i int) bool {
		frame, err := f.Frame(i)
		first, err2 := f.Frame(0)
		return err == nil && err2 == nil && uint64(frame.Offset()-first.Offset()) >= s.Kept
	})
}

// sameFrame reports whether two frames are one. Who made it is left out: the thread may have ended since, and its number with it.
func sameFrame(a, b []byte, h tfile.Header) bool {
	if bytes.Equal(a, b) || len(a) != len(b) {
		return len(a) == len(b)
	}
	for _, p := range []*[]byte{&a, &b} {
		f, err := tfile.ParseFrame(*p, h.Order, h.RegisterSize)
		if err != nil {
			return false
		}
		masked := slices.Clone(*p)
		for block := range f.Blocks() {
			if block.Kind == tfile.BlockVariable && trace.VariableNumber(block.Number) == trace.ThreadID {
				clear(masked[block.End()-8 : block.End()])
			}
		}
		*p = masked
	}
	return bytes.Equal(a, b)
}

// salvage reads the frames of all arenas. Nobody writes any more: no thread is in a pad, or the program is only looked at. An arena
// whose words make no sense is passed over with the reason, and one whose frames are those of a process from which this one was
// forked, as long as that is there.
func (m *mender) salvage() (all []Salvaged) {
	m.done.Frames, m.done.Passed = 0, 0
	for _, r := range m.found {
		if r.broken != nil || r.shape.RingSize == 0 || !r.control.Begun() || m.anothers(r) {
			continue
		}
		s, passed, err := m.salvageFrom(r)
		if err != nil {
			m.done.Kept = append(m.done.Kept, err)
		}
		m.done.Passed += passed
		if m.done.Frames += len(s.Frames); len(s.Frames) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// anothers reports whether the frames of an arena are those of another process that lives.
func (m *mender) anothers(r *remains) bool {
	pid := r.control.Process()
	if pid <= 0 || pid == int64(m.pid) {
		return false
	}
	_, err := sys.ThreadGroup(int(pid))
	return err == nil
}

// salvageFrom reads the frames of one arena. The ring is copied, so that what is judged is what is saved, and the copy is doubled
// as the mapping is that the tracer had.
func (m *mender) salvageFrom(r *remains) (s Salvaged, passed int, err error) {
	if _, _, err := r.control.Left(&r.shape); err != nil {
		return s, 0, err
	}
	ring := make([]byte, 2*r.shape.RingSize)
	if n, err := m.mem.ReadAt(ring[:r.shape.RingSize], int64(r.shape.Ring)); n < r.shape.RingSize {
		return s, 0, fmt.Errorf("the buffer at %s cannot be read: %w", r.shape.Ring, err)
	}
	copy(ring[r.shape.RingSize:], ring)
	reader, err := fast.NewReader(&r.shape, r.control, ring)
	if err != nil {
		return s, 0, err
	}
	reader.Thread = m.threads.of
	for i := range r.entries {
		if slots := r.entries[i].Slots; slots != nil {
			reader.Define(slots)
		}
	}
	s.Header = m.header(r)
	reader.Own = m.shadow().Hide
	forged := 0 // bytes of frames that no trace file takes, since the program has changed what describes them
	passed, err = reader.Salvage(func(made *fast.Record) {
		if made.Frames == nil {
			return
		}
		if f, err := tfile.ParseFrame(made.Frames, s.Header.Order, s.Header.RegisterSize); err != nil || f.Check() != nil {
			forged += len(made.Frames)
			return
		}
		s.Frames = append(s.Frames, slices.Clone(made.Frames))
	})
	passed += forged
	if from, _, err := r.control.Left(&r.shape); err == nil {
		s.Kept = r.control.Kept(from)
	}
	s.Header.Status.Frames, s.Header.Status.Created = int64(len(s.Frames)), int64(len(s.Frames))
	return s, passed, err
}

// shadow is the patches that there were when the frames were made, as far as the directories tell.
func (m *mender) shadow() *patch.Shadow {
	var list []patch.Made
	for _, r := range m.found {
		for i := range r.entries {
			for _, p := range r.entries[i].Patches {
				if p.Own != nil {
					list = append(list, patch.Made{Addr: p.Addr, Original: p.Own, Ours: p.Ours})
				}
			}
		}
	}
	return patch.NewShadow(list)
}

// header makes the header of a trace file of what the directory has. It does not tell how often tracepoints were hit.
func (m *mender) header(r *remains) tfile.Header {
	h := tfile.Header{
		Order:       binary.LittleEndian,
		Status:      &trace.Status{Reason: trace.ReasonError, Description: "the tracer was killed", Free: -1, Size: -1},
		Description: string(m.t.regs.description.XML()),
	}
	variables := make(map[trace.VariableNumber]bool)
	for i := range r.entries {
		e := &r.entries[i]
		if e.Slots != nil {
			h.RegisterSize = max(h.RegisterSize, e.Slots.RegisterBlock())
		}
		for _, tp := range e.Tracepoints {
			if !slices.ContainsFunc(h.Tracepoints, func(o trace.Tracepoint) bool { return o.Key() == tp.Key() }) {
				h.Tracepoints = append(h.Tracepoints, tp)
			}
			noteVariables(variables, &tp)
		}
	}
	if layout, err := m.t.regs.description.Layout(); err == nil && h.RegisterSize == 0 {
		h.RegisterSize = layout.Size
	}
	slices.SortFunc(h.Tracepoints, func(a, b trace.Tracepoint) int { // as tracepoint.Engine saves them
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.Addr, a.Addr))
	})
	for n := range variables {
		h.Variables = append(h.Variables, variable(n, r.control.Variable(n)))
	}
	slices.SortFunc(h.Variables, func(a, b trace.Variable) int { return cmp.Compare(a.Number, b.Number) })
	return h
}

// variable is the definition of a trace state variable with its last value. Numbers of built-in variables are nobody else's in
// recordings.
func variable(n trace.VariableNumber, value int64) trace.Variable {
	for _, name := range []string{trace.TimestampName, trace.NanosecondsName, trace.ProcessIDName, trace.ThreadIDName} {
		if v, _ := trace.Builtin(name); v.Number == n {
			return v
		}
	}
	return trace.Variable{Number: n, Initial: value}
}

// noteVariables notes the trace state variables that a tracepoint uses. Their names are not known here; GDB gives those without one
// a name of its own.
func noteVariables(found map[trace.VariableNumber]bool, tp *trace.Tracepoint) {
	codes := [][]byte{tp.Condition}
	for _, a := range tp.Actions {
		codes = append(codes, a.Code)
	}
	for _, code := range codes {
		if p, err := ax.Decode(code); err == nil && len(code) > 0 {
			for _, n := range p.Requirements().Variables {
				found[trace.VariableNumber(n)] = true
			}
		}
	}
}
