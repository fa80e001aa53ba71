//go:build linux && amd64

package jit

import (
	"errors"
	"testing"

	"tracewell/ax"
)

// FuzzCompile compiles any bytecode and holds what it does against ax.Machine.
func FuzzCompile(f *testing.F) {
	b := newBench(f, 2)
	for range 200 {
		f.Add(b.program().Code(), uint64(1))
	}
	for _, p := range suite(f) {
		f.Add(p.Code(), uint64(3))
	}
	f.Fuzz(func(t *testing.T, code []byte, seed uint64) {
		p, err := ax.Decode(code)
		if err != nil {
			return
		}
		b := newBench(t, seed)
		for m := range modes {
			diff, err := b.differs(p, m, 2)
			var refusal *Refusal
			if err != nil && !errors.As(err, &refusal) && !errors.Is(err, errTooLong) {
				t.Fatalf("%v: %v", p, err)
			}
			if diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
