package edit

import (
	"cmp"
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// add takes over the definitions of a part, and returns its numbers that change.
func (m *merger) add(p Part) (n numbering, err error) {
	if n.variables, err = m.addVariables(p); err != nil {
		return n, err
	}
	if n.tracepoints, err = m.addTracepoints(p, n.variables); err != nil {
		return n, err
	}
	for _, line := range p.Content.Header().Other {
		if !slices.Contains(m.other, line) {
			m.other = append(m.other, line)
		}
	}
	return n, nil
}

// header is the header of the parts together, which have a number of frames. Where all parts have their tracepoints in
// descending order it does, too, for GDB numbers them anew from the last to the first.
func (m *merger) header(parts []part, frames int) tfile.Header {
	h := parts[0].Content.Header()
	h.Variables, h.Other, h.Tracepoints = m.definitions, m.other, nil
	if !slices.ContainsFunc(parts, func(p part) bool { return !descending(p.Content.Header().Tracepoints) }) {
		slices.SortStableFunc(m.groups, func(a, b *group) int { return int(b.number) - int(a.number) })
	}
	for _, g := range m.groups {
		h.Tracepoints = append(h.Tracepoints, g.definitions...)
	}
	h.Status = joinedStatus(parts, frames)
	h.Description = tfile.WithThreads(h.Description, threads(parts))
	return h
}

// threads are the names of threads of the parts together. The first name of a thread in a part is that since the part began, if
// another part knows the thread by another name.
func threads(parts []part) (all []tfile.Thread) {
	for _, p := range parts {
		h := p.Content.Header()
		for _, t := range tfile.Threads(h.Description) {
			other := func(o tfile.Thread) bool { return o.TID == t.TID && o.Name != t.Name }
			if t.From == 0 && h.Status != nil && slices.ContainsFunc(all, other) {
				t.From = int64(h.Status.StartTime)
			}
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b tfile.Thread) int { return cmp.Compare(a.From, b.From) })
	return all
}

// joinedStatus is the status of the parts together, nil if none has any.
func joinedStatus(parts []part, frames int) *trace.Status {
	var all *trace.Status
	for _, p := range parts {
		own := p.Content.Header().Status
		if own == nil {
			continue
		}
		next := *own
		if n, ok := p.tracepoints[next.Tracepoint]; ok {
			next.Tracepoint = n
		}
		if next.Created < 0 {
			next.Created = int64(p.Content.NumFrames())
		}
		if all == nil {
			all = &next
		} else {
			joinStatus(all, next)
		}
	}
	if all != nil {
		all.Frames = int64(frames)
	}
	return all
}

// joinStatus adds the status of a further part. A count is known if it is known of all.
func joinStatus(all *trace.Status, next trace.Status) {
	if next.Running || !all.Running && next.StopTime >= all.StopTime {
		all.Reason, all.Description, all.Tracepoint = next.Reason, next.Description, next.Tracepoint
	}
	all.Running = all.Running || next.Running
	all.StopTime = max(all.StopTime, next.StopTime)
	if all.StartTime == 0 || next.StartTime != 0 && next.StartTime < all.StartTime {
		all.StartTime = next.StartTime
	}
	all.Created = sum(all.Created, next.Created)
	all.Free = sum(all.Free, next.Free)
	all.Size = sum(all.Size, next.Size)
	all.Circular = all.Circular || next.Circular
	all.Disconnected = all.Disconnected || next.Disconnected
	all.User = joinedText(all.User, next.User)
	all.Notes = joinedText(all.Notes, next.Notes)
}

// sum adds two counts, of which a negative one is not known.
func sum(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// joinedText is two texts in one, or one of them if they are equal or the other is empty.
func joinedText(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + "; " + b
}
