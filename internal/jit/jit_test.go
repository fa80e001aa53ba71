//go:build linux && amd64

package jit

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"tracewell/ax"
)

// differs compiles p, runs it in some states, and returns how that differs from what ax.Machine does. It counts outcomes.
func (b *bench) differs(p *ax.Program, m mode, states int) (string, error) {
	x, err := b.build(p, m)
	if err != nil {
		return "", err
	}
	for range states {
		b.fill()
		var before [storedVariables]int64
		for n := range before {
			before[n] = int64(b.word(variables + 8*n))
		}
		got := x.run()
		if want := b.interpreted(p, m, before); !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("%v\ncompiled: %+v\nmachine:  %+v", p, got, want), nil
		}
		kind, _, _ := strings.Cut(got.Outcome, ":")
		b.outcomes[kind]++
		b.recorded += len(got.Effects)
	}
	return "", nil
}

// TestRandomPrograms compiles random programs and compares what they do with what ax.Machine does.
func TestRandomPrograms(t *testing.T) {
	b := newBench(t, rand.Uint64())
	programs := 100_000
	if testing.Short() {
		programs = 5_000
	}
	for n := range programs {
		p := b.program()
		if diff, err := b.differs(p, mode(n)%modes, 2); err != nil || diff != "" {
			t.Fatalf("seed %d, program %d: %v\n%s", b.seed, n, err, diff)
		}
	}
	ends := map[string]int{}
	for kind, n := range b.outcomes {
		if _, err := strconv.ParseInt(kind, 10, 64); err == nil {
			kind = "value"
		}
		ends[kind] += n
	}
	t.Logf("%d programs: %v, %d effects", programs, ends, b.recorded)
	for _, kind := range []string{"true", "false", "done", "value", ax.ErrMemory.Error(), ax.ErrDivideByZero.Error(), ax.ErrEmptyStack.Error()} {
		if ends[kind] < programs/100 {
			t.Errorf("only %d ended with %s", ends[kind], kind)
		}
	}
}
