// Locals, arguments and globals in Go. It prints what its functions return, and a check sum.
package main

import (
	"fmt"
	"os"
)

type kind uint8

type point struct{ X, Y int32 }

type item struct {
	name   string
	weight int64
	at     point
	tags   []string
	next   *item
	kind   kind
}

type shape interface{ area() float64 }

type square struct{ side float64 }

var (
	limit  = 100
	title  = "global"
	origin = &point{-1, 1}
	table  = [4]uint16{9, 8, 7, 6}
	shapes []shape
)

//go:noinline
func (s *square) area() float64 {
	a := s.side * s.side
	return a + float64(limit) // @area
}

//go:noinline
func integers(round int) int {
	sum := 0
	tiny := int8(-100 - round)
	octet := byte(200 + round)
	word := uint16(60000 + round)
	huge := int64(-9000000000000000000) + int64(round)
	most := uint64(18000000000000000000) + uint64(round)
	odd := round&1 == 1
	letter := 'ß'
	real := 0.1 + float32(round)
	sum = int(tiny) + int(octet) + int(word) // @integers
	if odd {
		sum += int(huge&1) + int(most&1) + int(letter) + int(real)
	}
	return sum
}

//go:noinline
func add(list *item, name string, weight int64) *item {
	made := &item{name: name, weight: weight, tags: []string{"a", name}, next: list, kind: kind(weight)}
	made.at = point{int32(weight), 2}
	limit += int(weight)
	return made // @add
}

//go:noinline
func sum(values []int, factor int) (total int, count int) {
	for i, v := range values {
		total += v * factor
		count = i + 1 // @sum
	}
	return total, count // @summed
}

//go:noinline
func closures(base int) int {
	count := 0
	step := func(by int) int {
		count += by * base
		return count // @closure
	}
	return step(2) + step(3)
}

// said prints what a function has returned.
func said[T any](name string, value T) T {
	fmt.Printf("main.%s = %v\n", name, value)
	return value
}

func main() {
	var list *item
	total := len(os.Args)
	counts := map[string]int{"one": 1}
	for round := 0; round < 3; round++ {
		total += said("integers", integers(round))
		list = add(list, fmt.Sprint("item-", round), int64(round*10))
		fmt.Printf("main.add = (main.item *) %p\n", list)
		t, n := sum([]int{1, 2, round}, round+1)
		fmt.Printf("main.sum = {total = %d, count = %d}\n", t, n)
		total += t + n + said("closures", closures(round))
		var s shape = &square{float64(round) + 0.5}
		shapes = append(shapes, s)
		total += int(said("(*square).area", s.area())) + counts["one"] + int(table[round]) + int(origin.X) // @round
	}
	fmt.Println(total, title, list.name)
}
