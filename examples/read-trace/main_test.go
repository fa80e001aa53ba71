package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"../../tfile/testdata/queue-basic.tf"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"frame 2: tracepoint 2, queue.c:23, pc 0x4011b5\n", "\n  $hits = 3\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is missing in\n%s", line, out.String())
		}
	}
	if run([]string{"main.go"}, &out) == nil {
		t.Error("a file that is no trace was read")
	}
}
