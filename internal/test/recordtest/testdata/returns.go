// Functions that return values by Go's own convention, and print these as the recorder shows them.
package main

import (
	"errors"
	"fmt"
	"sync"
)

type point struct {
	X int
	Y float64
	C [1]int16
}

var kept *int

//go:noinline
func number(n int) int { return n + 1 }

//go:noinline
func pair(n int) (int, bool) { return n * 2, n > 2 }

//go:noinline
func record(n int) point { return point{n, float64(n) / 2, [1]int16{7}} }

//go:noinline
func list(n int) []int32 { return make([]int32, n, 2*n) }

//go:noinline
func wave(n int) complex128 { return complex(float64(n), 2) }

//go:noinline
func escaping(n int) (first int, second uint16) { kept = &first; first = n; return first + 1, 9 }

//go:noinline
func recovered(n int) (result int, ok bool) {
	defer func() {
		if recover() != nil {
			result = -n
		}
	}()
	if n%2 == 0 {
		panic("even")
	}
	return n, true
}

//go:noinline
func failing(n int) (int, error) {
	if n > 2 {
		return n, errors.New("large")
	}
	return n, nil
}

var calm, tidied = false, 0

// thrower panics in the innermost of its calls unless it is calm; on its way out the panic runs what each has deferred.
//
//go:noinline
func thrower(n int) int {
	defer func() { tidied++ }()
	if n == 0 {
		if !calm {
			panic("enough")
		}
		return 0
	}
	return thrower(n-1) + 1
}

//go:noinline
func catcher(n int) (result int) {
	defer func() {
		if recover() != nil {
			result = -n
		}
	}()
	return thrower(n)
}

// deep makes the runtime move the stack while calls are active.
//
//go:noinline
func deep(n int) int {
	var room [300]int
	room[n] = n
	if n == 0 {
		return room[0]
	}
	return deep(n-1) + room[n]
}

func main() {
	for n := 2; n < 4; n++ {
		fmt.Printf("main.number = %d\n", number(n))
		a, b := pair(n)
		fmt.Printf("main.pair = {~r0 = %d, ~r1 = %v}\n", a, b)
		p := record(n)
		fmt.Printf("main.record = {X = %d, Y = %v, C = {%d}}\n", p.X, p.Y, p.C[0])
		l := list(n)
		fmt.Printf("main.list = {array = %p, len = %d, cap = %d}\n", l, len(l), cap(l))
		w := wave(n)
		fmt.Printf("main.wave = %v + %vi\n", real(w), imag(w))
		first, second := escaping(n)
		fmt.Printf("main.escaping = {first = %d, second = %d}\n", first, second)
		result, ok := recovered(n)
		fmt.Printf("main.recovered = {result = %d, ok = %v}\n", result, ok)
		failing(n)
	}
	for _, n := range []int{3, 2, 1} {
		calm = n == 2
		catcher(n)
	}
	var all sync.WaitGroup
	for n := range 4 {
		all.Add(1)
		go func() { defer all.Done(); deep(40 + n) }()
	}
	all.Wait()
}
