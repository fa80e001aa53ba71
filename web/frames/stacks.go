package frames

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"

	"tracewell/view"
	"tracewell/view/wire"
)

// stackCache has the stacks of frames, as show --folded prints them. Unwinding one takes longer than all else that is done
// with a frame, so it is done once.
type stackCache struct {
	mu    sync.Mutex // held while stacks are unwound: who comes second needs the same
	done  bool
	every int
	of    []int32 // the stack of a frame, -1 for none and for those that were left out
	texts []string
	lacks []bool // the frame has no stack
}

// mostUnwound is how many stacks are unwound at most. Of more frames every so many are: a flame graph shows shares.
const mostUnwound = 50_000

// unwind unwinds the stacks.
func (s *snapshot) unwind(ctx context.Context) (*stackCache, error) {
	c := &s.stacks
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return c, nil
	}
	n := s.view.Content.NumFrames()
	c.of, c.lacks, c.texts = make([]int32, n), make([]bool, n), nil
	with, err := s.framesWithStacks()
	if err != nil {
		return nil, err
	}
	c.every = with/mostUnwound + 1
	known := make(map[string]int32)
	var mu sync.Mutex // guards known and texts
	number := func(text string) int32 {
		mu.Lock()
		defer mu.Unlock()
		i, ok := known[text]
		if !ok {
			i = int32(len(c.texts))
			known[text] = i
			c.texts = append(c.texts, text)
		}
		return i
	}
	err = inChunks(ctx, n, func() func(low, high int) error {
		reader := s.view.NewReader()
		var frame view.Frame
		return func(low, high int) (err error) {
			for i := low; i < high; i++ {
				if c.of[i] = -1; i%c.every != 0 {
					continue
				}
				if frame, err = s.view.Frame(i, frame.Bytes()); err != nil {
					return err
				}
				reader.Set(frame)
				b := reader.Backtrace()
				if c.lacks[i] = len(b.Calls) == 0; !c.lacks[i] {
					c.of[i] = number(b.Folded())
				}
			}
			return nil
		}
	})
	c.done = err == nil
	return c, err
}

// framesWithStacks estimates how many frames have a stack, by the first of each tracepoint. A frame without one costs little.
func (s *snapshot) framesWithStacks() (count int, err error) {
	frames := s.view.FramesByTracepoint()
	reader := s.view.NewReader()
	for i := 0; i < s.view.Content.NumFrames() && len(frames) > 0; i++ {
		number := s.view.Content.Tracepoint(i)
		of, first := frames[number]
		if !first {
			continue
		}
		delete(frames, number)
		frame, err := s.view.Frame(i, nil)
		if err != nil {
			return 0, err
		}
		reader.Set(frame)
		if len(reader.Backtrace().Calls) > 0 {
			count += of
		}
	}
	return count, nil
}

// mostCalls is how many calls the tree has. Those that come least are left out, as they would be narrower than a pixel.
const mostCalls = 4000

// stackTree answers "stacks": the stacks of the frames that a filter chooses, as a tree.
func (s *snapshot) stackTree(ctx context.Context, args url.Values) (any, error) {
	numbers, err := s.chosen(ctx, args)
	if err != nil {
		return nil, err
	}
	c, err := s.unwind(ctx)
	if err != nil {
		return nil, err
	}
	object := wire.PageStacks{Root: wire.PageCall{Name: "all"}, Every: c.every}
	counts := make([]int, len(c.texts))
	for _, i := range numbers {
		switch {
		case c.of[i] >= 0:
			counts[c.of[i]]++
			object.Stacks++
		case c.lacks[i]:
			object.Lacking++
		}
	}
	var root callNode
	for text, n := range counts {
		if n > 0 {
			root.add(strings.Split(c.texts[text], ";"), n)
		}
	}
	left := mostCalls
	object.Root = root.object("all", object.Stacks/mostCalls, &left)
	object.Root.Count = object.Stacks
	return object, nil
}

// callNode is a function by the path of its callers.
type callNode struct {
	count int
	calls map[string]*callNode
}

func (n *callNode) add(path []string, count int) {
	for n.count += count; len(path) > 0; path = path[1:] {
		if n.calls == nil {
			n.calls = make(map[string]*callNode)
		}
		next := n.calls[path[0]]
		if next == nil {
			next = &callNode{}
			n.calls[path[0]] = next
		}
		n = next
		n.count += count
	}
}

// object is a call with those below it that have more than a number of frames, as long as there is room for them.
func (n *callNode) object(name string, least int, left *int) wire.PageCall {
	call := wire.PageCall{Name: name, Count: n.count}
	names := make([]string, 0, len(n.calls))
	for name := range n.calls {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(n.calls[b].count-n.calls[a].count, strings.Compare(a, b)) })
	for _, name := range names {
		if n.calls[name].count <= least || *left == 0 {
			break
		}
		*left--
		call.Calls = append(call.Calls, n.calls[name].object(name, least, left))
	}
	return call
}
