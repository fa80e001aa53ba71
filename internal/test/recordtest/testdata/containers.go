// Command containers has values of Go's built-in types, and prints them as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"time"
	_ "time/tzdata"
	"unsafe"
)

type job struct {
	ID   int
	Name string
	Tags []string
}

type values struct {
	Empty, Short, UTF8, Long string
	None, One                []int
	Hundred                  []int
	Texts                    []string
	Nested                   [][]int
	Array                    [2]string
	Jobs                     []job
	Map0                     map[string]int
	Map5                     map[string]int
	Map150                   map[int]string
	MapOfMaps                map[string]map[string]int
	MapOfSlices              map[string][]int
	NilSlice                 []int
	NilMap                   map[string]int
	Cut                      []int

	NilChan, Unbuffered, Chan0, Chan1, Chan100, CutChan chan int
	TextChan                                            chan string

	Func, Closure, Method, NilFunc func(int) int
	Funcs                          []func(int) int
	Zero, UTC, Fixed, Now, Zoned   time.Time
	Before                         time.Time // the time for which the location knows the offset
	Times                          []time.Time
	Lasting                        time.Duration

	Bytes               []byte `json:"-"`
	Reals               []float64
	Complex             complex128 `json:"-"`
	Pointer, NilPointer *job       `json:"-"`
	Numbers             struct {
		A int8
		B uint16
		C bool
		D rune
		E uintptr
		F float32
	} `json:"-"`
	Mixed     map[string]any
	Anonymous []struct{ A, B any }
	Unsafe    unsafe.Pointer `json:"-"`
}

func (j *job) number(n int) int { return j.ID + n }

func double(n int) int { return 2 * n }

// name is what the runtime calls a function.
func name(f func(int) int) any {
	if f == nil {
		return nil
	}
	return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
}

// shown are the values as show has them in JSON, with the elements of channels, of which this takes them out.
type shown struct {
	*values
	NilChan, Unbuffered, Chan0, Chan1, Chan100, CutChan, TextChan, Cut []any
	Func, Closure, Method, NilFunc                                     any
	Funcs                                                              []any
}

// cut are the elements that show has, and its words for those that record has not collected.
func cut[T any](elements []T) []any {
	all := []any{}
	for i, e := range elements {
		if i == 200 {
			return append(all, fmt.Sprintf("<not collected: %d elements>", len(elements)-i))
		}
		all = append(all, e)
	}
	return all
}

// drain takes all elements out of a channel.
func drain[T any](c chan T) []any {
	if c == nil {
		return nil
	}
	var all []T
	for range len(c) {
		all = append(all, <-c)
	}
	return cut(all)
}

// filled is a channel of n elements, whose ring begins with the last of its places.
func filled(n int) chan int {
	c := make(chan int, n+1)
	for range n {
		c <- -1
		<-c
	}
	for i := range n {
		c <- i * i
	}
	return c
}

//go:noinline
func hit(v *values) int { return len(v.Short) }

func main() {
	v := &values{
		Short: "short", UTF8: "héllo → ü", One: []int{7}, Texts: []string{"", "a", "bb"}, Nested: [][]int{{1}, {2, 3}},
		Array: [2]string{"p", "q"}, Jobs: []job{{1, "first", []string{"x"}}, {2, "second", []string{"y", "z"}}}, None: []int{},
		Map0: map[string]int{}, Map5: map[string]int{}, Map150: map[int]string{},
		MapOfMaps: map[string]map[string]int{"a": {"b": 1}}, MapOfSlices: map[string][]int{"s": {1, 2}},
	}
	for i := range 100 {
		v.Hundred = append(v.Hundred, i*i)
		v.Long += "0123456789"[i%10 : i%10+1]
	}
	for i := range 5 {
		v.Map5[fmt.Sprint("key", i)] = i
	}
	for i := range 190 {
		v.Map150[i] = fmt.Sprint("value", i)
	}
	for i := range 40 {
		delete(v.Map150, 3*i)
	}
	for i := range 300 {
		v.Cut = append(v.Cut, 3*i)
	}
	v.Unbuffered, v.Chan0, v.Chan1, v.Chan100, v.CutChan = make(chan int), filled(0), filled(1), filled(100), filled(300)
	v.TextChan = make(chan string, 2)
	v.TextChan <- "first"
	v.TextChan <- ""
	v.Func, v.Method, v.Closure = double, v.Jobs[0].number, func(n int) int { return n + len(v.Long) }
	v.Funcs = []func(int) int{v.Func, nil, v.Closure}
	const year, nanoseconds = 2024, 123456789
	india, err := time.LoadLocation("Asia/Kolkata") // which has had one offset since 1945
	if err != nil {
		panic(err)
	}
	v.UTC = time.Date(year, 2, 29, 12, 30, 15, nanoseconds, time.UTC)
	v.Fixed = time.Date(year, 7, 1, 23, 0, 0, 0, time.FixedZone("", -(3*60+30)*60))
	v.Zoned, v.Before = time.Date(year, 1, 1, 0, 0, 0, 0, india), time.Date(1900, 1, 1, 0, 0, 0, 0, india)
	v.Now = time.Now()
	_, _ = v.Now.Zone() // which reads what the system's zone is
	v.Times = []time.Time{v.Fixed, v.Zero, v.Zoned}
	v.Lasting = 90 * time.Second
	v.Bytes, v.Reals, v.Complex = []byte("aü\x00"), []float64{0.1, 1e21, -2, 1e-7}, complex(1.5, -2)
	v.Numbers.A, v.Numbers.B, v.Numbers.D, v.Numbers.E, v.Numbers.F = -3, 65535, 'ü', 16, 0.1
	v.Mixed = map[string]any{"number": 1.0}
	v.Anonymous = []struct{ A, B any }{{1.0, nil}, {nil, 2.0}}
	hit(v)
	v.Before = v.Before.UTC()
	text, err := json.Marshal(shown{v, drain(v.NilChan), drain(v.Unbuffered), drain(v.Chan0), drain(v.Chan1), drain(v.Chan100),
		drain(v.CutChan), drain(v.TextChan), cut(v.Cut), name(v.Func), name(v.Closure), name(v.Method), name(v.NilFunc),
		[]any{name(v.Funcs[0]), nil, name(v.Funcs[2])}})
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(text)
}
