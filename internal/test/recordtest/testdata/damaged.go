// Command damaged has values whose words were overwritten.
package main

import (
	"os"
	"time"
	"unsafe"
)

type values struct {
	WildSlice, Long, Beyond, Negative []int
	WildString, LongString            string
	WildMap, WildBig                  map[int]int
	WildChan                          chan int
	WildFunc                          func()
	WildTime                          time.Time
	Nested                            [][]int
	NoMemory                          []int
}

// poke overwrites a word of a value.
func poke[T any](value *T, word int, to uintptr) {
	*(*uintptr)(unsafe.Add(unsafe.Pointer(value), 8*word)) = to
}

//go:noinline
func hit(v *values) { os.Exit(0) }

func main() {
	v := &values{
		WildSlice: []int{1, 2}, Long: []int{1}, Beyond: []int{1}, Negative: []int{1}, WildString: "text", LongString: "text",
		WildMap: map[int]int{1: 2}, WildBig: map[int]int{}, WildChan: make(chan int, 3), Nested: [][]int{{1}, {2, 3}},
		WildTime: time.Unix(0, 0).UTC(),
	}
	for i := range 100 {
		v.WildBig[i] = i
	}
	const wild = 16
	poke(&v.WildSlice, 0, wild)
	poke(&v.Long, 1, 1<<60)
	poke(&v.Beyond, 1, 1<<30)
	poke(&v.Negative, 1, ^uintptr(0))
	poke(&v.WildString, 0, wild)
	poke(&v.LongString, 1, 1<<60)
	poke(&v.WildMap, 0, wild)
	poke(*(**[3]uintptr)(unsafe.Pointer(&v.WildBig)), 2, wild) // where its directory lies
	poke(&v.WildChan, 0, wild)
	poke(&v.WildFunc, 0, wild)
	poke(&v.WildTime, 2, wild)
	poke(&v.Nested[1], 0, wild)
	poke(&v.NoMemory, 1, 5)
	hit(v)
}
