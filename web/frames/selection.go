package frames

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tracewell/internal/routine"
	"tracewell/trace"
	"tracewell/view"
	"tracewell/view/wire"
)

// filter says which frames are wanted: those that meet all that is given.
type filter struct {
	where       string
	tracepoints []trace.Number
	threads     []int32
	from, to    int64 // positions, to is excluded
	ranged      bool
}

// readFilter reads a filter from the arguments of a question.
func readFilter(args url.Values) (f filter, err error) {
	f.where = strings.TrimSpace(args.Get("where"))
	tracepoints, err := integers(args.Get("tp"))
	if err != nil {
		return f, err
	}
	for _, n := range tracepoints {
		f.tracepoints = append(f.tracepoints, trace.Number(n))
	}
	threads, err := integers(args.Get("thread"))
	if err != nil {
		return f, err
	}
	for _, n := range threads {
		f.threads = append(f.threads, int32(n))
	}
	if f.ranged = args.Has("from") || args.Has("to"); !f.ranged {
		return f, nil
	}
	if f.from, err = strconv.ParseInt(args.Get("from"), 10, 64); err != nil {
		return f, err
	}
	f.to, err = strconv.ParseInt(args.Get("to"), 10, 64)
	return f, err
}

// integers reads numbers with commas between them.
func integers(list string) (numbers []int64, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

func (f *filter) key() string {
	return fmt.Sprint(f.where, "\x00", f.tracepoints, f.threads, f.ranged, f.from, f.to)
}

// selection is the frames that a filter chooses, as far as they have been found.
type selection struct {
	cancel context.CancelFunc

	mu      sync.Mutex
	numbers []int32 // ascending
	done    bool
	err     error
	lacking map[string]int
	change  chan struct{} // closed at each change
	users   int           // questions that wait for it
	used    time.Time
}

// selections are the ones of the last filters.
type selections struct {
	mu   sync.Mutex
	last map[string]*selection
}

// keptSelections is how many are kept. Each has 4 bytes for a frame.
const keptSelections = 8

// choose begins to look for the frames of a filter, or returns what has been found of them already. Whoever gets a selection
// releases it. The search goes on when the question that began it has been answered, and ends when another is begun that nobody
// waits for.
func (s *snapshot) choose(args url.Values) (*selection, error) {
	f, err := readFilter(args)
	if err != nil {
		return nil, err
	}
	// Conditions are compiled before anything is searched: an error is known at once.
	if f.where != "" {
		if _, err := s.view.Condition(f.where); err != nil {
			return nil, err
		}
	}
	all := &s.selections
	all.mu.Lock()
	defer all.mu.Unlock()
	key := f.key()
	if known := all.last[key]; known != nil {
		known.use(1)
		return known, nil
	}
	all.makeRoom()
	ctx, cancel := context.WithCancel(context.Background())
	c := &selection{cancel: cancel, lacking: make(map[string]int), change: make(chan struct{}), users: 1, used: time.Now()}
	if all.last == nil {
		all.last = make(map[string]*selection)
	}
	all.last[key] = c
	routine.Go(func() {
		defer cancel()
		c.finish(s.find(ctx, &f, c))
	})
	return c, nil
}

// makeRoom ends searches that nobody waits for, and forgets the selection that was used longest ago.
func (all *selections) makeRoom() {
	oldest := ""
	for key, c := range all.last {
		c.mu.Lock()
		idle, unfinished := c.users == 0, !c.done
		c.mu.Unlock()
		if idle && unfinished {
			c.cancel()
			delete(all.last, key)
			continue
		}
		if o := all.last[oldest]; idle && (o == nil || c.used.Before(o.used)) {
			oldest = key
		}
	}
	if len(all.last) >= keptSelections && oldest != "" {
		delete(all.last, oldest)
	}
}

func (c *selection) use(by int) {
	c.mu.Lock()
	c.users += by
	c.used = time.Now()
	c.mu.Unlock()
}

func (c *selection) release() { c.use(-1) }

// found adds frames, in the order of their numbers.
func (c *selection) found(numbers []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers = append(c.numbers, numbers...)
	c.changed()
}

func (c *selection) finish(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.err = true, err
	c.changed()
}

// changed wakes who waits. The caller holds the lock.
func (c *selection) changed() {
	close(c.change)
	c.change = make(chan struct{})
}

// lacked counts what frames lacked for the condition.
func (c *selection) lacked(all []view.Lack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range all {
		c.lacking[l.Name] += l.Frames
	}
}

// wait waits until so many frames are found, or all, and returns what there is then.
func (c *selection) wait(ctx context.Context, count int) (numbers []int32, search wire.PageSearch, err error) {
	for {
		c.mu.Lock()
		numbers, done, failed, change := c.numbers, c.done, c.err, c.change
		if done || len(numbers) >= count {
			search := wire.PageSearch{Total: len(numbers), Done: done}
			if done {
				search.Lacking = lackText(c.lacking)
			}
			c.mu.Unlock()
			return numbers, search, failed
		}
		c.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return nil, search, ctx.Err()
		}
	}
}

// waitFor is wait with an end: after some time it returns what there is.
func (c *selection) waitFor(ctx context.Context, count int, patience time.Duration) ([]int32, wire.PageSearch, error) {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	numbers, search, err := c.wait(patient, count)
	if err != nil && patient.Err() != nil && ctx.Err() == nil {
		return c.wait(ctx, 0)
	}
	return numbers, search, err
}

// lackText says what frames lacked, as show does: "12 frames lack j->id".
func lackText(lacking map[string]int) string {
	var most view.Lack
	for name, frames := range lacking {
		if frames > most.Frames || frames == most.Frames && name < most.Name {
			most = view.Lack{Name: name, Frames: frames}
		}
	}
	if most.Frames == 0 {
		return ""
	}
	return most.String()
}

// everyFrame is more than any trace has.
const everyFrame = 1 << 62

// chosen returns all the frames that a filter chooses.
func (s *snapshot) chosen(ctx context.Context, args url.Values) ([]int32, error) {
	c, err := s.choose(args)
	if err != nil {
		return nil, err
	}
	defer c.release()
	numbers, _, err := c.wait(ctx, everyFrame)
	return numbers, err
}

// find looks for the frames of a filter. It goes over them in rounds, of a chunk for each processor, so that they are found in
// order; the first rounds are short, because somebody waits for the first rows.
func (s *snapshot) find(ctx context.Context, f *filter, c *selection) error {
	workers := runtime.GOMAXPROCS(0)
	searchers := make([]searcher, workers)
	for i := range searchers {
		if err := searchers[i].prepare(s, f); err != nil {
			return err
		}
	}
	defer func() {
		for i := range searchers {
			if searchers[i].condition != nil {
				c.lacked(searchers[i].condition.Lacking())
			}
		}
	}()
	total, size := s.view.Content.NumFrames(), chunk/8
	for done := 0; done < total; size = min(size*2, chunk*4) {
		var group routine.Group
		for i := range searchers {
			low, high := min(done+i*size, total), min(done+(i+1)*size, total)
			group.Go(func() { searchers[i].search(ctx, low, high) })
		}
		group.Wait()
		for i := range searchers {
			if searchers[i].err != nil {
				return searchers[i].err
			}
			c.found(searchers[i].numbers)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done += workers * size
	}
	return nil
}

// searcher goes over frames on one goroutine.
type searcher struct {
	*snapshot
	filter    *filter
	condition *view.Condition // nil for none
	reader    *view.Reader
	frame     view.Frame
	numbers   []int32
	err       error
}

func (r *searcher) prepare(s *snapshot, f *filter) (err error) {
	r.snapshot, r.filter = s, f
	if f.where != "" {
		r.reader = s.view.NewReader()
		r.condition, err = s.view.Condition(f.where)
	}
	return err
}

// interruption is how many frames pass before a search that is over is noticed.
const interruption = 512

// search finds the frames from low to high. What the index decides is decided first.
func (r *searcher) search(ctx context.Context, low, high int) {
	r.numbers = r.numbers[:0]
	for i := low; i < high && r.err == nil; i++ {
		if i%interruption == 0 && ctx.Err() != nil {
			return
		}
		if r.indexed(i) && (r.condition == nil || r.holds(i)) {
			r.numbers = append(r.numbers, int32(i))
		}
	}
}

func (r *searcher) indexed(i int) bool {
	f := r.filter
	if len(f.tracepoints) > 0 && !slices.Contains(f.tracepoints, r.view.Content.Tracepoint(i)) ||
		len(f.threads) > 0 && !slices.Contains(f.threads, r.index.threadOf[i]) {
		return false
	}
	if !f.ranged {
		return true
	}
	at, ok := r.index.position(i)
	return ok && f.from <= at && at < f.to
}

func (r *searcher) holds(i int) bool {
	if r.frame, r.err = r.view.Frame(i, r.frame.Bytes()); r.err != nil {
		return false
	}
	r.reader.Set(r.frame)
	return r.condition.Match(r.reader)
}
