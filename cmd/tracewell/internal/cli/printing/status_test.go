package printing

import (
	"encoding/json"
	"math"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/trace"
	"tracewell/view"
)

func TestStateText(t *testing.T) {
	for _, test := range []struct {
		status trace.Status
		want   string
	}{
		{trace.Status{Running: true, Reason: trace.ReasonNotRun}, "running"},
		{trace.Status{Reason: trace.ReasonNotRun}, "no run yet"},
		{trace.Status{Reason: trace.ReasonStop}, "stopped by tstop"},
		{trace.Status{Reason: trace.ReasonStop, Description: "enough\n"}, `stopped by tstop: enough\n`},
		{trace.Status{Reason: trace.ReasonFull}, "stopped because the trace buffer was full"},
		{trace.Status{Reason: trace.ReasonDisconnected}, "stopped because GDB left"},
		{trace.Status{Reason: trace.ReasonPassCount, Tracepoint: 3}, "stopped by the pass count of tracepoint 3"},
		{trace.Status{Reason: trace.ReasonError, Tracepoint: 4, Description: "divide by zero"},
			"stopped by an error at tracepoint 4: divide by zero"},
		{trace.Status{Reason: trace.ReasonUnknown}, "stopped for an unknown reason"},
		{trace.Status{}, "not running"},
	} {
		if got := view.StateText(&test.status); got != test.want {
			t.Errorf("%+v is %q, want %q", test.status, got, test.want)
		}
	}
}

func TestTimeText(t *testing.T) {
	for microseconds, want := range map[uint64]string{
		1_795_261_777_259_815: "2026-11-21 11:49:37.259815 UTC",
		5_326_308_475:         "5326.308475 secs",
		1:                     "0.000001 secs",
		946_684_799_999_999:   "946684799.999999 secs",
		946_684_800_000_000:   "2000-01-01 00:00:00.000000 UTC",
		math.MaxUint64:        "18446744073709.551615 secs",
	} {
		if got := timeText(microseconds); got != want {
			t.Errorf("%d is %q, want %q", microseconds, got, want)
		}
	}
}

func TestFrameAndBufferText(t *testing.T) {
	s := trace.Status{Frames: 3, Created: 10, Free: 25, Size: 100, Circular: true, StartTime: 5_000_000, StopTime: 5_500_000}
	if got, want := framesText(&s), "3 of 10 made"; got != want {
		t.Errorf("frames: %q, want %q", got, want)
	}
	if got, want := bufferText(&s), "25 of 100 bytes free (75% full), circular"; got != want {
		t.Errorf("buffer: %q, want %q", got, want)
	}
	if got, want := afterText(&s), ", 0.500000 secs later"; got != want {
		t.Errorf("after: %q, want %q", got, want)
	}
	s = trace.Status{Frames: 3, Created: 3, Size: 0, StartTime: 5, StopTime: 4}
	if got := framesText(&s) + bufferText(&s) + afterText(&s); got != "30 of 0 bytes free" {
		t.Errorf("an odd status gives %q", got)
	}
}

// TestInfoJSON holds info --json to the names that programs rely on.
func TestInfoJSON(t *testing.T) {
	var info struct {
		Version           *int
		RegisterBlockSize int
		ByteOrder         string
		Frames            int
		Tracepoints       []struct {
			Number, Frames int
			Address        string
		}
		Variables []struct {
			Name    string
			Initial int64
		}
		Status map[string]any
	}
	if err := json.Unmarshal([]byte(clitest.Run(t, "info", clitest.Basic, "--json").Stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info.Version == nil || info.RegisterBlockSize != 2420 || info.ByteOrder != "little" || info.Frames != 85 {
		t.Errorf("header: %+v", info)
	}
	frames := 0
	for _, tp := range info.Tracepoints {
		frames += tp.Frames
	}
	if len(info.Tracepoints) != 3 || info.Tracepoints[0].Number != 2 || info.Tracepoints[0].Address != "0x4011b5" || frames != 85 {
		t.Errorf("tracepoints: %+v", info.Tracepoints)
	}
	if len(info.Variables) != 3 || info.Variables[2].Name != "neg" || info.Variables[2].Initial != -5 {
		t.Errorf("variables: %+v", info.Variables)
	}
	if info.Status["running"] != false || info.Status["reason"] != "tpasscount" || info.Status["frames"] != 85.0 {
		t.Errorf("status: %v", info.Status)
	}
}
