// Command padded GOROUTINES CALLS: each goroutine calls tick(i, &item, g) for i from 0 up to CALLS, where item is {3*i + g, ^i}.
// Some calls come from deep in a stack, which grows and is copied, and now and then the garbage collector runs. The program ends
// with status 2 at the first call that returns something wrong.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type item struct{ a, b uint64 }

//go:noinline
func tick(i uint64, p *item, g uint64) uint64 { return i ^ 0x5a5a5a5a ^ g }

//go:noinline
func deep(n int, i uint64, p *item, g uint64) uint64 {
	if n == 0 {
		return tick(i, p, g)
	}
	var frame [20]uint64
	frame[n%20] = i
	return deep(n-1, i, p, g) + frame[(n+1)%20]
}

func run(g, calls uint64) {
	it := new(item)
	for i := range calls {
		it.a, it.b = 3*i+g, ^i
		r := uint64(0)
		if i%1024 == 0 {
			r = deep(int(i/1024)%200, i, it, g)
		} else {
			r = tick(i, it, g)
		}
		if r != i^0x5a5a5a5a^g {
			os.Exit(2)
		}
		if i%65536 == 0 {
			runtime.GC()
		}
	}
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	calls, _ := strconv.ParseUint(os.Args[2], 10, 64)
	var all sync.WaitGroup
	for g := range n {
		all.Go(func() { run(uint64(g), calls) })
	}
	all.Wait()
	fmt.Printf("done threads=%d calls=%d handled=0\n", n, calls)
}
