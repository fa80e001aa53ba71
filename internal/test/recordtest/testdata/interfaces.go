// Command interfaces has interfaces with values of many types, and prints them as show does, by what %T and %v make of them.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

type job struct {
	ID    int
	Name  string
	Ratio float64
	Note  string
}

func (j job) String() string { return j.Name }

type number int

func (n number) Error() string { return fmt.Sprint(int(n)) }

type nothing struct{}

type values struct {
	Nil, Simple, Wrapped, Path, Own error
	Twice                           error
	None, Int, Text, Long           any
	Job, JobAt, Short, Real, Slice  any
	Empty, Nested                   any
	Stringer                        fmt.Stringer
	Errors                          []error
	Wild                            any
	Func, Time, Lasting, NilMap     any
}

//go:noinline
func hit(v *values) int { return len(v.Errors) }

func say(name, format string, args ...any) { fmt.Printf(name+" = "+format+"\n", args...) }

func main() {
	_, path := os.Open("/nonexistent")
	v := &values{
		Simple: errors.New(strings.Repeat("simple ", 2)), Path: path, Own: number(7), Int: -5, Text: strings.Repeat("täxt", 2),
		Long: strings.Repeat("x", 300), Job: job{1, strings.Repeat("a", 3), 0.5, ""}, JobAt: &job{2, "b", 1.5, strings.Repeat("n", 2)},
		Short: int16(200), Real: 2.25, Slice: []int{1, 2}, Empty: nothing{}, Stringer: job{ID: 3, Name: strings.ToUpper("c")},
	}
	v.Wrapped = fmt.Errorf("wrapped: %w", v.Simple)
	v.Twice = fmt.Errorf("twice: %w", fmt.Errorf("once: %w", errors.New(strings.Repeat("in", 2))))
	v.Nested = &v.Int
	v.Errors = []error{v.Simple, nil, fs.ErrNotExist, errors.New(strings.Repeat("last", 2))}
	v.Func, v.NilMap = func(n int) int { return n + len(v.Errors) }, map[string]int(nil)
	v.Time, v.Lasting = time.Unix(1700000000, 5).UTC(), 1500*time.Millisecond
	(*[2]uintptr)(unsafe.Pointer(&v.Wild))[0] = 0x10
	hit(v)
	(*[2]uintptr)(unsafe.Pointer(&v.Wild))[0] = 0
	describe := func(j any) string {
		return strings.NewReplacer("main.job{", "{", ":", ": ").Replace(strings.TrimPrefix(fmt.Sprintf("%#v", j), "&"))
	}
	simple := func(err error) string {
		if err == nil {
			return "error nil"
		}
		return fmt.Sprintf("error(%T) *{s: %q}", err, err.Error())
	}
	element := func(err error) string { // of a slice, whose type says that it is an error
		_, text, ok := strings.Cut(simple(err), ") *")
		if !ok {
			return "nil"
		}
		return fmt.Sprintf("%T %s", err, text)
	}
	say("Nil", "%s", simple(v.Nil))
	say("Simple", "%s", simple(v.Simple))
	say("Wrapped", "error(%T) *{msg: %q, err: %s}", v.Wrapped, v.Wrapped.Error(), simple(errors.Unwrap(v.Wrapped)))
	once := errors.Unwrap(v.Twice)
	say("Twice", "error(%T) *{msg: %q, err: error(%T) *{msg: %q, err: %s}}", v.Twice, v.Twice.Error(), once, once.Error(),
		simple(errors.Unwrap(once)))
	failure := path.(*fs.PathError)
	say("Path", "error(*io/fs.PathError) *{Op: %q, Path: %q, Err: error(%T) %d}", failure.Op, failure.Path, failure.Err, failure.Err)
	say("Own", "error(%T) %v", v.Own, v.Own)
	say("None", "interface {} nil")
	say("Int", "interface {}(%T) %v", v.Int, v.Int)
	say("Text", "interface {}(%T) %q", v.Text, v.Text)
	say("Long", "interface {}(%T) %q...<not collected: 100 characters>", v.Long, v.Long.(string)[:200])
	say("Job", "interface {}(%T) %s", v.Job, describe(v.Job))
	say("JobAt", "interface {}(%T) *%s", v.JobAt, describe(v.JobAt))
	say("Short", "interface {}(%T) %v", v.Short, v.Short)
	say("Real", "interface {}(%T) %v", v.Real, v.Real)
	say("Slice", "interface {}(%T) [<not collected: 2 elements>]", v.Slice)
	say("Empty", "interface {}(%T) {}", v.Empty)
	say("Nested", "interface {}(%T) *%v", v.Nested, v.Int)
	say("Func", "interface {}(%T) %s", v.Func, runtime.FuncForPC(reflect.ValueOf(v.Func).Pointer()).Name())
	say("Time", "interface {}(%T) %T(%s)", v.Time, v.Time, v.Time.(time.Time).Format(time.RFC3339Nano))
	say("Lasting", "interface {}(%T) %v", v.Lasting, v.Lasting)
	say("NilMap", "interface {}(%T) nil", v.NilMap)
	say("Stringer", "fmt.Stringer(%T) %s", v.Stringer, describe(v.Stringer))
	var all []string
	for _, err := range v.Errors {
		all = append(all, element(err))
	}
	say("Errors", "[]error len: %d, cap: %d, [%s]", len(all), cap(v.Errors), strings.Join(all, ", "))
	say("Wild", "interface {} <of a type that is not known>")
}
