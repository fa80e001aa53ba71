//go:build linux

package linux_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/internal/test/testprog"
	"tracewell/target"
)

// TestNoThreadLocals asks for variables that are not there, at a program's first instruction and later.
func TestNoThreadLocals(t *testing.T) {
	static := testprog.Variant{NoPIE: true, Static: true}
	for _, test := range []struct {
		program string
		variant testprog.Variant
		object  arch.Addr
		want    string
	}{
		{"spin", fixed, 0, "the program has no thread-local variables"},
		{"locals", fixed, 8, "cannot read memory at"},
		{"locals", static, 8, "the program's C library does not describe its thread-local storage"},
	} {
		p := testprog.Build(t, test.program, test.variant)
		r := launch(t, p.Path)
		id := target.ThreadID{PID: r.pid, TID: r.pid}
		if runtime.GOARCH != "riscv64" { // where tp is still what it was ahead of the exec
			if pointer, err := r.target.ThreadPointer(id); pointer != 0 || err != nil {
				t.Errorf("%s begins with thread pointer %v, %v", test.program, pointer, err)
			}
			if _, err := r.target.ThreadLocal(id, test.object, 0); !errors.Is(err, inferior.ErrNotAllocated) {
				t.Errorf("%s begins with thread-local variables: %v", test.program, err)
			}
		}
		main := target.Breakpoint{Addr: symbol(t, p.Path, "main")}
		if err := r.target.InsertBreakpoint(id, main); err != nil {
			t.Fatal(err)
		}
		if ev := r.resume(0); ev.Kind != target.Stopped {
			t.Fatalf("%+v", ev)
		}
		if pointer, err := r.target.ThreadPointer(id); pointer == 0 || err != nil {
			t.Errorf("%s runs with thread pointer %v, %v", test.program, pointer, err)
		}
		if _, err := r.target.ThreadLocal(id, test.object, 0); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("variables of the object at %v of %s: %v, want %s", test.object, test.program, err, test.want)
		}
		if _, err := r.target.ThreadLocal(target.ThreadID{PID: r.pid, TID: 1}, 0, 0); !errors.Is(err, target.ErrNoThread) {
			t.Errorf("thread 1: %v", err)
		}
	}
}
