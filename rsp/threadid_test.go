package rsp

import "testing"

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
		{text: "p0.0", pid: AnyThread, tid: AnyThread, printed: "0"},
		{text: "p-1.-1", pid: AllThreads, tid: AllThreads},
		{text: "p-1", pid: AllThreads, tid: AllThreads, printed: "p-1.-1"},
		{text: "-1", pid: AllThreads, tid: AllThreads, printed: "p-1.-1"},
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
		pid, tid, err := ParseThreadID(tt.text)
		if pid != tt.pid || tid != tt.tid || errorText(err) != tt.err {
			t.Errorf("ParseThreadID(%q) = %d, %d, %q, want %d, %d, %q",
				tt.text, pid, tid, errorText(err), tt.pid, tt.tid, tt.err)
		}
		if err != nil {
			continue
		}
		want := tt.printed
		if want == "" {
			want = tt.text
		}
		if got := string(AppendThreadID(nil, pid, tid)); got != want {
			t.Errorf("AppendThreadID(%d, %d) = %q, want %q", pid, tid, got, want)
		}
	}
}
