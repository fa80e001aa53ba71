package remote

import (
	"fmt"
	"strings"
	"time"

	"tracewell/target"
)

// probes is how often something is measured.
const probes = 5

// Probe finds out what the stub has beside its Profile and what its packets cost, and says so in lines for people. It reads
// registers and changes nothing.
func (t *Target) Probe() (string, error) {
	var b strings.Builder
	err := t.do(func() error {
		fmt.Fprintf(&b, "processor    %s, %s\n", t.isa.Machine.Title, t.description.Architecture)
		fmt.Fprintf(&b, "registers    %d bytes in one block, of %d that are described\n", t.block, t.layout.Size)
		fmt.Fprintf(&b, "breakpoints  passed by %s\n", t.emulation.way())
		fmt.Fprintf(&b, "threads      %d\n", len(t.threads))
		fmt.Fprintf(&b, "vCont        %v\n", t.verbs)
		fmt.Fprintf(&b, "packets      up to %d bytes\n", t.c.PacketSize())
		fmt.Fprintf(&b, "features     %s\n", t.c.Features())
		if t.ended {
			fmt.Fprintf(&b, "program      none\n")
			return nil
		}
		cost, err := t.cost(t.current)
		if err == nil {
			fmt.Fprintf(&b, "a packet     %v (all registers)\n", cost)
		}
		return err
	})
	return strings.TrimRight(b.String(), "\n"), err
}

// cost measures what it takes to read the registers.
func (t *Target) cost(id target.ThreadID) (time.Duration, error) {
	best := time.Duration(0)
	for range probes {
		start := time.Now()
		if _, err := t.readBlock(id); err != nil {
			return 0, err
		}
		if took := time.Since(start); best == 0 || took < best {
			best = took
		}
	}
	return best.Round(time.Microsecond), nil
}
