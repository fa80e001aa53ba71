package view

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"time"

	"tracewell/internal/cexpr"
	"tracewell/symbol/ctype"
	"tracewell/tfile"
	"tracewell/trace"
)

// Return is what a frame of a return knows of the call that ends.
type Return struct {
	Entry Frame         // made when the function was entered
	Took  time.Duration // since then
	Timed bool          // both frames tell when they were made
}

// Calls pairs the frames of returns with those of entries, as they come. Frames of one call have the same activation (see
// trace.ActivationName) in one thread, or goroutine. A call that ends without a return, by longjmp or an exception, is
// forgotten when its thread makes a frame further out: nothing that lies further in on the stack is active any more.
//
// Whatever cannot be paired with certainty is not paired. A program that switches stacks in a thread by itself loses pairs,
// because one stack seems to lie further out than another. It is for one goroutine.
type Calls struct {
	view   *View
	reader *Reader
	open   map[thread][]openCall
	count  int // of all that are open
}

// thread is who calls.
type thread struct {
	pid, id   int64
	goroutine bool // id is the goroutine
}

// openCall is a call that has not returned.
type openCall struct {
	activation int64
	tracepoint trace.Number
	number     int    // of the frame
	frame      []byte // a copy; nil if only the number is wanted
}

// mostOpen bounds how many calls are remembered. A program that leaves threads behind in the middle of calls leaves calls as well.
const mostOpen = 1 << 18

// Calls returns the pairing of frames that come one after the other from now on, nil if no tracepoint is set at returns. One of
// earlier definitions of the same run may be given, and goes on.
func (v *View) Calls(earlier *Calls) *Calls {
	if !v.returning() {
		return nil
	}
	c := &Calls{view: v, reader: v.NewReader(), open: make(map[thread][]openCall)}
	if earlier != nil {
		c.open, c.count = earlier.open, earlier.count
	}
	return c
}

// returning reports whether a tracepoint is set at returns.
func (v *View) returning() bool {
	for _, t := range v.tracepoints {
		if t.entry != 0 {
			return true
		}
	}
	return false
}

// Entry reports whether a frame was made where a function is entered whose returns are recorded as well.
func (v *View) Entry(f Frame) bool {
	t := v.tracepoints[f.Tracepoint()]
	return t != nil && t.paired
}

// Pair returns the frame with its call, if it is of a return whose entry was among the frames so far. A nil Calls pairs nothing.
func (c *Calls) Pair(f Frame) Frame {
	if c == nil {
		return f
	}
	entry, ok := c.next(f, true)
	if !ok {
		return f
	}
	header := c.view.Content.Header()
	raw, err := tfile.ParseFrame(entry.frame, header.Order, header.RegisterSize)
	if err == nil {
		f.Return = newReturn(c.view.Of(entry.number, raw), f)
	}
	return f
}

// newReturn is the return that ends what an entry began.
func newReturn(entry, end Frame) *Return {
	for _, clock := range []struct {
		variable trace.VariableNumber
		unit     time.Duration
	}{{trace.Nanoseconds, time.Nanosecond}, {trace.Timestamp, time.Microsecond}} {
		from, known := entry.Variable(clock.variable)
		to, too := end.Variable(clock.variable)
		if known && too {
			return &Return{Entry: entry, Took: time.Duration(to-from) * clock.unit, Timed: true}
		}
	}
	return &Return{Entry: entry}
}

// next takes a frame in. It returns the open call that a return ends.
func (c *Calls) next(f Frame, keep bool) (ended openCall, ok bool) {
	t := c.view.tracepoints[f.Tracepoint()]
	if t == nil || t.entry == 0 && !t.paired || c.view.Stepped(f) {
		return openCall{}, false
	}
	c.reader.Set(f)
	who, known := c.reader.thread()
	activation, active := c.reader.activation()
	if !known || !active {
		return openCall{}, false
	}
	// Stacks grow downwards: what lies below is further in.
	calls := c.open[who]
	c.count -= len(calls)
	for len(calls) > 0 && calls[len(calls)-1].activation < activation {
		calls = calls[:len(calls)-1]
	}
	wanted := f.Tracepoint()
	if t.entry != 0 {
		wanted = t.entry
	}
	// Several functions that call one another at their ends have the same activation, one after the other.
	for i := len(calls) - 1; i >= 0 && calls[i].activation == activation; i-- {
		if calls[i].tracepoint == wanted {
			ended, ok = calls[i], t.entry != 0
			calls = slices.Delete(calls, i, i+1)
			break
		}
	}
	if t.entry == 0 {
		made := openCall{activation: activation, tracepoint: wanted, number: f.Number}
		if keep {
			made.frame = bytes.Clone(f.Bytes())
		}
		calls = append(calls, made)
	}
	c.put(who, calls)
	return ended, ok
}

// put remembers the open calls of a thread.
func (c *Calls) put(who thread, calls []openCall) {
	if c.count += len(calls); c.count > mostOpen {
		clear(c.open)
		c.count = len(calls)
	}
	if len(calls) == 0 {
		delete(c.open, who)
		return
	}
	c.open[who] = calls
}

// thread is who made the frame, false if it does not tell.
func (r *Reader) thread() (who thread, ok bool) {
	who.pid, _ = r.frame.Variable(trace.ProcessID)
	if item := r.collection.goroutine; item != nil {
		n, ok := r.integerOf(item)
		who.id, who.goroutine = n, true
		return who, ok
	}
	who.id, ok = r.frame.Variable(trace.ThreadID)
	return who, ok
}

// activation is that of the call that made the frame.
func (r *Reader) activation() (int64, bool) {
	if r.collection.activation == nil {
		return 0, false
	}
	return r.integerOf(r.collection.activation)
}

func (r *Reader) integerOf(item *Item) (int64, bool) {
	v, ok := r.Find(item)
	if !ok || len(v.Bytes) != 8 || len(v.Holes) > 0 {
		return 0, false
	}
	return int64(r.view.integer(v.Bytes)), true
}

// partners are the frames of calls, by their numbers: at that of an entry is the number of its return, and the other way round,
// each one more than it is. 0 is for other frames.
type partners []int32

// of returns the frame that a frame belongs together with.
func (p partners) of(number int) (other int, ok bool) {
	if number < 0 || number >= len(p) || p[number] == 0 {
		return 0, false
	}
	return int(p[number]) - 1, true
}

// allPartners goes over the trace once. It ends at what cannot be read.
func (v *View) allPartners() partners {
	v.pairOnce.Do(func() {
		v.partners = make(partners, v.Content.NumFrames())
		calls := v.Calls(nil)
		var frame Frame
		for i := range v.partners {
			raw, err := v.Content.ReadFrame(i, frame.Bytes())
			if err != nil {
				return
			}
			frame = v.Of(i, raw)
			if entry, ok := calls.next(frame, false); ok {
				v.partners[i], v.partners[entry.number] = int32(entry.number+1), int32(i+1)
			}
		}
	})
	return v.partners
}

// ChosenFrom tells a view of some frames of a trace which trace that is, and which place there a frame has. Calls are then those of
// the whole trace: a return that was chosen has its entry, though that was not, and no frames become pairs because others between
// them are missing. Places must ascend. It is for views that no frame has been read from.
func (v *View) ChosenFrom(whole *View, place func(i int) int) { v.whole, v.placeIn = whole, place }

// all is the view of the whole trace.
func (v *View) all() *View {
	if v.whole == nil {
		return v
	}
	return v.whole
}

// placeInAll is where a frame is there.
func (v *View) placeInAll(f Frame) int {
	if v.whole == nil {
		return f.place
	}
	return v.placeIn(f.place)
}

// Paired returns a frame of the trace with its call, if it is of a return whose entry is in the trace.
func (v *View) Paired(f Frame) Frame {
	if t := v.tracepoints[f.Tracepoint()]; t == nil || t.entry == 0 {
		return f
	}
	whole := v.all()
	entry, ok := whole.allPartners().of(v.placeInAll(f))
	if !ok {
		return f
	}
	if raw, err := whole.Content.ReadFrame(entry, nil); err == nil {
		f.Return = newReturn(whole.Of(entry, raw), f)
	}
	return f
}

// CallEnd returns the place in the view of the frame at which the call ends that a frame is of: its own if it is of the return. It
// is false if the frame is of no call, or the view lacks the frame of the entry or that of the return.
func (v *View) CallEnd(f Frame) (end int, ok bool) {
	if t := v.tracepoints[f.Tracepoint()]; t == nil || t.entry == 0 && !t.paired {
		return 0, false
	}
	other, ok := v.all().allPartners().of(v.placeInAll(f))
	if ok && v.whole != nil {
		n, wanted := v.Content.NumFrames(), other
		other = sort.Search(n, func(i int) bool { return v.placeIn(i) >= wanted })
		ok = other < n && v.placeIn(other) == wanted
	}
	return max(f.place, other), ok
}

// Goroutine returns the goroutine that made a frame, false if the frame does not tell. Only those of calls and returns do.
func (r *Reader) Goroutine() (int64, bool) {
	who, ok := r.thread()
	return who.id, ok && who.goroutine
}

// tookName is the item for how long a call took.
const tookName = "$" + trace.TookName

// nanoseconds is its type.
var nanoseconds = &ctype.Type{Kind: ctype.Integer, Name: "nanoseconds", Size: 8, Signed: true}

// atEntry is what stands behind the name of an item that was collected when the function was entered, as in GDB.
const atEntry = "@entry"

// addCall adds to the items of a return how long the call took, and those of the entry.
func (v *View) addCall(c *collection, t *tracepoint) {
	c.add(&Item{Name: tookName, Type: nanoseconds, sources: []source{{kind: sourceTook}}})
	entry := v.all().tracepoints[t.entry]
	if entry == nil {
		return
	}
	for _, location := range entry.locations {
		if !v.sameFunction(location, c.tracepoint) {
			continue
		}
		for _, item := range v.all().own(location).items {
			_, isVariable := item.Variable()
			if item.Slot != nil || isVariable || item.Name == callName || strings.HasSuffix(item.Name, atEntry) {
				continue
			}
			at := *item
			at.Name, at.entry, at.plan = item.Name+atEntry, cexpr.Normal(item.Name), nil
			c.add(&at)
		}
	}
}

// sameFunction reports whether two tracepoints are in the same function, as far as the program tells, or at the same system call.
func (v *View) sameFunction(a, b *trace.Tracepoint) bool {
	if atCall(a) || atCall(b) {
		return sameCall(a, b)
	}
	if v.Symbols == nil {
		return true
	}
	ofA, ofB := v.Symbols.Calls(a.Addr), v.Symbols.Calls(b.Addr)
	return ofA[len(ofA)-1].Function == ofB[len(ofB)-1].Function
}

// IsDuration reports whether an item is a time in nanoseconds.
func (i *Item) IsDuration() bool { return i.sources[0].kind == sourceTook }

// Of returns the Reader of the frame that an item is from: that of the entry for a value as it was when the function was entered.
func (r *Reader) Of(item *Item) *Reader {
	if item.entry == "" {
		return r
	}
	if entry, found := r.ofEntry(item); found != nil {
		return entry
	}
	return r
}

// ofEntry returns the Reader of the frame of the entry, and the item that a name stands for there; nil if there is none.
func (r *Reader) ofEntry(item *Item) (*Reader, *Item) {
	if r.frame.Return == nil {
		return nil, nil
	}
	if r.entry == nil {
		r.entry = r.view.all().NewReader()
	}
	if !r.entered {
		r.entry.Set(r.frame.Return.Entry)
		r.entered = true
	}
	return r.entry, r.entry.collection.byName[item.entry]
}
