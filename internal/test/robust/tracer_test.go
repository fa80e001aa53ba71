//go:build linux

package robust

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTracerIsParent compares the tracer that the kernel names with the parent, as programs do that look for their debugger.
func TestTracerIsParent(t *testing.T) {
	s := serve(t, nil, "spin", "1", "nop")
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string]string)
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	if fields["TracerPid"] != fields["PPid"] || fields["PPid"] == "0" {
		t.Errorf("the tracer is %s and the parent %s, want one and the same", fields["TracerPid"], fields["PPid"])
	}
}
