package guardtest

import (
	"flag"
	"testing"
)

var kills = flag.Int("kills", 5, "")

func TestProto(t *testing.T) {
	l := newLab(t)
	for _, tool := range []struct {
		name   string
		attach func(int) *tracer
	}{{"record", l.record}, {"serve", l.serve}} {
		for _, threads := range []int{1, 50} {
			for _, rate := range []int{1000, 0} {
				survived := 0
				for range *kills {
					if l.survives(tool.attach, threads, rate) {
						survived++
					}
				}
				t.Logf("%s %d threads %d/s: %d of %d", tool.name, threads, rate, survived, *kills)
			}
		}
	}
}
