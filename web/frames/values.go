package frames

import (
	"context"
	"sync"

	"tracewell/symbol/ctype"
	"tracewell/view"
)

// column is the values of an expression in all frames.
type column struct {
	bits []uint64
	typ  []uint8 // index into types, plus 1; 0 for frames that lack something
	// types are those of the values. One expression has few: one for each tracepoint at most.
	types []*ctype.Type
}

// at is the value in a frame, false if that lacks something.
func (c *column) at(i int32) (ctype.Number, bool) {
	t := c.typ[i]
	if t == 0 {
		return ctype.Number{}, false
	}
	return ctype.Number{Bits: c.bits[i], Type: c.types[t-1]}, true
}

// valueCache keeps the values of the last expressions.
type valueCache struct {
	mu   sync.Mutex
	last []namedColumn // the one that was used last is the last
}

type namedColumn struct {
	name string
	*column
}

// keptColumns is how many are kept. Each has 9 bytes for a frame.
const keptColumns = 6

// column returns the values of an expression in all frames. A question that nobody waits for any more ends.
func (s *snapshot) column(ctx context.Context, text string) (*column, error) {
	cache := &s.values
	cache.mu.Lock()
	for i, known := range cache.last {
		if known.name == text {
			cache.last = append(append(cache.last[:i:i], cache.last[i+1:]...), known)
			cache.mu.Unlock()
			return known.column, nil
		}
	}
	cache.mu.Unlock()
	c, err := s.evaluate(ctx, text)
	if err != nil {
		return nil, err
	}
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cache.last = append(cache.last, namedColumn{text, c})
	if len(cache.last) > keptColumns {
		cache.last = cache.last[1:]
	}
	return c, nil
}

// evaluate computes an expression in all frames.
func (s *snapshot) evaluate(ctx context.Context, text string) (*column, error) {
	if _, err := s.view.Expression(text); err != nil { // an error is known before anything is read
		return nil, err
	}
	n := s.view.Content.NumFrames()
	c := &column{bits: make([]uint64, n), typ: make([]uint8, n)}
	var mu sync.Mutex // guards types
	typeNumber := func(t *ctype.Type) uint8 {
		mu.Lock()
		defer mu.Unlock()
		for i, known := range c.types {
			if known == t {
				return uint8(i + 1)
			}
		}
		if len(c.types) == 255 {
			return 0
		}
		c.types = append(c.types, t)
		return uint8(len(c.types))
	}
	err := inChunks(ctx, n, func() func(low, high int) error {
		e, err := s.view.Expression(text)
		reader := s.view.NewReader()
		var frame view.Frame
		var last *ctype.Type
		var lastNumber uint8
		return func(low, high int) error {
			for i := low; i < high && err == nil; i++ {
				if frame, err = s.view.Frame(i, frame.Bytes()); err != nil {
					break
				}
				reader.Set(frame)
				v, ok := e.Value(reader)
				if !ok {
					continue
				}
				if v.Type != last { // asking for its number takes a lock
					last, lastNumber = v.Type, typeNumber(v.Type)
				}
				c.bits[i], c.typ[i] = v.Bits, lastNumber
			}
			return err
		}
	})
	return c, err
}
