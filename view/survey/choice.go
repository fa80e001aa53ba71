package survey

import (
	"context"
	"slices"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

// Choice says which frames are looked for: those that keep all the conditions that are given.
type Choice struct {
	First, End  int            // the frame's number is First or more, and less than End
	Tracepoints []trace.Number // it is of one of these tracepoints; of any if there are none
	// PC is conditions on the pc, which a frame without a pc keeps none of. Of each group one must hold.
	PC    [][]tfile.Query
	Where func(view.Frame) bool // nil for no condition

	Reverse bool // the last frame comes first
	Limit   int  // at most so many frames, the first that are found; 0 for all
	// Progress is told how many frames have been gone over, once for every thousand; nil for nobody.
	Progress func(done int64)
}

// progressStep is how many frames pass between two calls of Progress.
const progressStep = 1000

// Each calls do for each frame that is looked for, until the context ends. The bytes of a frame are valid during the call.
func (c *Choice) Each(ctx context.Context, v *view.View, do func(view.Frame) error) error {
	var frame view.Frame
	found := 0
	// Tracepoint numbers are in the index of a file, and decide before a frame is read.
	for done := range max(c.End-c.First, 0) {
		if done%progressStep == 0 {
			if err := c.pause(ctx, done); err != nil {
				return err
			}
		}
		number := c.First + done
		if c.Reverse {
			number = c.End - 1 - done
		}
		if !c.ofTracepoint(v.Content.Tracepoint(number)) {
			continue
		}
		var err error
		if frame, err = v.Frame(number, frame.Bytes()); err != nil {
			return err
		}
		// The pc is known without evaluating anything, so it comes first.
		if !c.at(frame) || c.Where != nil && !c.Where(frame) {
			continue
		}
		if err := do(frame); err != nil {
			return err
		}
		if found++; found == c.Limit {
			return nil
		}
	}
	return nil
}

// pause is what is done every now and then.
func (c *Choice) pause(ctx context.Context, done int) error {
	if c.Progress != nil {
		c.Progress(int64(done))
	}
	return ctx.Err()
}

// Count returns how many frames are looked for. It reads no frame whose number and tracepoint decide.
func (c *Choice) Count(ctx context.Context, v *view.View) (int, error) {
	count := 0
	if len(c.PC) > 0 || c.Where != nil {
		err := c.Each(ctx, v, func(view.Frame) error { count++; return nil })
		return count, err
	}
	for i := c.First; i < c.End && (c.Limit == 0 || count < c.Limit); i++ {
		if c.ofTracepoint(v.Content.Tracepoint(i)) {
			count++
		}
	}
	return count, nil
}

// EachOfLast calls do for the last n frames that are looked for, the earliest of them first unless c is Reverse.
func (c *Choice) EachOfLast(ctx context.Context, n int, v *view.View, do func(view.Frame) error) error {
	backwards := *c
	backwards.Reverse, backwards.Limit = true, n
	if c.Reverse {
		return backwards.Each(ctx, v, do)
	}
	var numbers []int
	err := backwards.Each(ctx, v, func(f view.Frame) error {
		numbers = append(numbers, f.Number)
		return nil
	})
	if err != nil {
		return err
	}
	var frame view.Frame
	for _, number := range slices.Backward(numbers) {
		if frame, err = v.Frame(number, frame.Bytes()); err != nil {
			return err
		}
		if err := do(frame); err != nil {
			return err
		}
	}
	return nil
}

func (c *Choice) ofTracepoint(n trace.Number) bool {
	return len(c.Tracepoints) == 0 || slices.Contains(c.Tracepoints, n)
}

// at reports whether the pc of a frame is as wanted.
func (c *Choice) at(f view.Frame) bool {
	for _, group := range c.PC {
		holds := func(q tfile.Query) bool { return q.Match(f.Tracepoint(), f.PC) }
		if !f.HasPC || !slices.ContainsFunc(group, holds) {
			return false
		}
	}
	return true
}

// Previous returns the number of the frame of the same tracepoint before frame number, and false if number is the first.
func Previous(v *view.View, number int) (int, bool) {
	n := v.Content.Tracepoint(number)
	for i := number - 1; i >= 0; i-- {
		if v.Content.Tracepoint(i) == n {
			return i, true
		}
	}
	return 0, false
}

// At returns the condition that the pc is one of addrs.
func At(addrs []arch.Addr) []tfile.Query {
	var group []tfile.Query
	for _, addr := range addrs {
		group = append(group, tfile.Query{Kind: tfile.ByPC, Low: addr})
	}
	return group
}
