//go:build linux && amd64

package printing

import (
	"testing"
	"time"
)

// TestClock: what is no Unix time is the clock of another server, and no time of day.
func TestClock(t *testing.T) {
	for microseconds, want := range map[int64]string{
		0: "+0.000000", 5_023_170_001: "+5023.170001", -3: "-3",
		unixFrom - 1: "+946684799.999999",
	} {
		if got := string(AppendClock(nil, microseconds)); got != want {
			t.Errorf("%d is %s, want %s", microseconds, got, want)
		}
	}
	if got, want := string(AppendClock(nil, unixFrom)), time.UnixMicro(unixFrom).Format(ClockFormat); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w := lineWriter{start: time.UnixMicro(unixFrom)}
	for _, test := range []struct{ stamp, want int64 }{{unixFrom + 5, 5}, {1000, 0}, {1030, 30}} {
		if got := w.elapsed(test.stamp); got != time.Duration(test.want)*time.Microsecond {
			t.Errorf("%d: %v", test.stamp, got)
		}
	}
}
