// Values of Go, for expressions over them.
package main

type point struct{ X, Y int32 }

type job struct {
	id    uint8
	at    point
	name  string
	list  []int16
	next  *job
	ready bool
}

var limit = 42

//go:noinline
func (j *job) work(word string, values []int, scale *int) int {
	tiny := int8(-100)
	table := [2][2]uint16{{1, 2}, {3, 4}}
	local := point{-5, 6}
	reference := &local
	sum := int(j.id) + int(tiny) + int(table[1][0]) + int(reference.X) + len(word) + values[1] + *scale + limit
	return sum /* here */
}

func main() {
	j := &job{200, point{3, -4}, "job", []int16{7, -8}, nil, true}
	j.next = j
	scale := 5
	println(j.work("text", []int{10, -20, 30}, &scale))
}
