//go:build linux && amd64

package linux

import "testing"

// TestTrial has the trial come to an end on this machine, with what the processor's flags promise.
func TestTrial(t *testing.T) {
	r := tried()
	if r.unfinished != nil {
		t.Fatal(r.unfinished)
	}
	t.Logf("rdfsbase %t, debug registers %t", r.rdfsbase, r.registers)
	if host.padProcessor().RDFSBase != r.rdfsbase {
		t.Errorf("the kernel permits rdfsbase: %t, and it can be executed: %t", !r.rdfsbase, r.rdfsbase)
	}
}
