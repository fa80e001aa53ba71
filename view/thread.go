package view

import (
	"slices"

	"tracewell/tfile"
	"tracewell/trace"
)

// ThreadName finds the name that a thread had at a time, in microseconds since 1970; false if nobody knows it.
type ThreadName func(tid, microseconds int64) (string, bool)

// NameThreads has the view find the names of threads by a function, and not by what the trace has of them.
func (v *View) NameThreads(find ThreadName) { v.threadName = find }

// nameThreads finds the names that the trace has.
func (v *View) nameThreads(threads []tfile.Thread) {
	if len(threads) == 0 {
		return
	}
	v.threads = make(map[int64][]tfile.Thread)
	for _, t := range threads {
		v.threads[t.TID] = append(v.threads[t.TID], t)
	}
	v.threadName = func(tid, microseconds int64) (string, bool) {
		names := v.threads[tid]
		if len(names) == 0 {
			return "", false
		}
		// They were noted one after the other, and the first is that of the time before, too.
		for _, t := range slices.Backward(names) {
			if t.From <= microseconds {
				return t.Name, true
			}
		}
		return names[0].Name, true
	}
}

// LastName is the last name that the trace has of a thread.
func (v *View) LastName(tid int64) (string, bool) {
	names := v.threads[tid]
	if len(names) == 0 {
		return "", false
	}
	return names[len(names)-1].Name, true
}

// NamesThreads reports whether the trace has names of threads, and whether there are different ones.
func (v *View) NamesThreads() (some, several bool) {
	first := ""
	for _, names := range v.threads {
		for _, t := range names {
			several = several || some && t.Name != first
			first, some = t.Name, true
		}
	}
	return some, several
}

// ThreadID returns the thread that made a frame, false if the frame does not tell ($tid).
func (v *View) ThreadID(f Frame) (tid int64, ok bool) { return v.byName(f, trace.ThreadIDName) }

// ProcessID returns the process that made a frame, false if the frame does not tell ($pid).
func (v *View) ProcessID(f Frame) (pid int64, ok bool) { return v.byName(f, trace.ProcessIDName) }

// Comm returns the name of the thread that made a frame, false if it is not known.
func (v *View) Comm(f Frame) (name string, ok bool) {
	tid, ok := v.ThreadID(f)
	if !ok || v.threadName == nil {
		return "", false
	}
	at, _ := f.Variable(trace.Timestamp)
	return v.threadName(tid, at)
}

// byName finds a trace state variable in a frame.
func (v *View) byName(f Frame, name string) (int64, bool) {
	number, ok := v.variableNumber(name)
	if !ok {
		return 0, false
	}
	return f.Variable(trace.VariableNumber(number))
}
