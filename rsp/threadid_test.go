package rsp

import (
	"strings"
	"testing"
)

func TestThreadID(t *testing.T) {
	tests := []struct {
		text     string
		pid, tid int
		printed  string // "" where it is the text itself
		err      string
	}{
		{text: "p1a.1b", pid: 0x1a, tid: 0x1b},
		{text: "p1a.-1", pid: 0x1a, tid: AllThreads},
		{text: "p1a.0", pid: 0x1a, tid: AnyThread},
		{text: "p1A", pid: 0x1a, tid: AllThreads, printed: "p1a.-1"},
		{text: "1b", pid: AnyThread, tid: 0x1b},
		{text: "0", pid: AnyThread, tid: AnyThread},
		{text: "p0.0", pid: AnyThread, tid: AnyThread},
		{text: "p-1.-1", pid: AllThreads, tid: AllThreads},
		{text: "p-1", pid: AllThreads, tid: AllThreads, printed: "p-1.-1"},
		{text: "-1", pid: AnyThread, tid: AllThreads},
		{text: "p-1.0", pid: AllThreads, tid: AnyThread},

		{text: "", err: "offset 0: found the end, expected a hexadecimal number"},
		{text: "p", err: "offset 1: found the end, expected a hexadecimal number"},
		{text: "p1.", err: "offset 3: found the end, expected a hexadecimal number"},
		{text: "p1.-2", err: `offset 3: found "-2", expected a hexadecimal number`},
		{text: "p-1.5", err: `offset 0: found "p-1.5", expected a process with the thread`},
		{text: "p-15", err: `offset 3: found "5", expected the end`},
		{text: "p1.2x", err: `offset 4: found "x", expected the end`},
		{text: "8000000000000000", err: `offset 0: found "8000000000000000", expected a hexadecimal number up to 7fffffffffffffff`},
	}
	for _, tt := range tests {
		var got Thread
		f := ReadFields(tt.text)
		f.Thread(&got)
		err := f.End()
		if want := (Thread{tt.pid, tt.tid, err == nil && strings.HasPrefix(tt.text, "p")}); got != want && err == nil || errorText(err) != tt.err {
			t.Errorf("%q is %+v, %q, want %+v, %q", tt.text, got, errorText(err), want, tt.err)
		}
		want := tt.printed
		if want == "" {
			want = tt.text
		}
		if err == nil && got.String() != want {
			t.Errorf("%+v is written as %q, want %q", got, got, want)
		}
	}
}
