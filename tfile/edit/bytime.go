package edit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// sortByTime puts the frames in the order of their times, of which it keeps 12 bytes a frame.
func (m *merged) sortByTime(progress func(done int64)) error {
	i := slices.IndexFunc(m.header.Variables, func(v trace.Variable) bool { return v.Name == trace.TimestampName })
	if i < 0 {
		return errors.New("no order by time: there is no variable $" + trace.TimestampName)
	}
	times := make([]int64, m.NumFrames())
	order := make([]int32, m.NumFrames())
	var frame tfile.Frame
	for n := range times {
		var err error
		if frame, err = m.ReadFrame(n, frame.Bytes()); err != nil {
			return err
		}
		var ok bool
		if times[n], ok = frame.Variable(m.header.Variables[i].Number); !ok {
			p, n := m.find(n)
			return fmt.Errorf("no order by time: frame %d of %s has no $%s", n, p.Name, trace.TimestampName)
		}
		order[n] = int32(n)
		if progress != nil && n%progressStep == 0 {
			progress(int64(n))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(times[a], times[b]) })
	m.order = order
	return nil
}
