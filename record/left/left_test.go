//go:build linux && amd64

package left_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/recording"
	"tracewell/internal/test/stubs"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/record/left"
	"tracewell/rsp/client"
	"tracewell/target/remote"
)

const script = "tvariable $n = 5\ntrace tick\nactions\ncollect $regs, $n\nteval $n = $n + 1\nend\n"

// leave starts a run at a stub and goes away.
func leave(t *testing.T, address, script string, set func(*left.Run)) (*remote.Target, error) {
	t.Helper()
	c := record.Config{Plan: recording.Plan(t, script), Output: filepath.Join(t.TempDir(), "run.tf"), Notes: "left alone"}
	s, on, err := stubs.Open(address, "", c)
	if err != nil {
		return on, err
	}
	run := left.Run{Definitions: s.Header(), Semaphores: s.Semaphores()}
	if set != nil {
		set(&run)
	}
	err = on.With(func(stub *client.Client) error { return left.Start(stub, run) })
	return on, errors.Join(err, s.Close())
}

// fetch gets what a stub has recorded.
func fetch(address string, r left.Request) (left.Fetched, error) {
	at, err := remote.ParseAddress(address)
	if err != nil {
		return left.Fetched{}, err
	}
	conn, err := at.Dial()
	if err != nil {
		return left.Fetched{}, err
	}
	defer conn.Close()
	c := client.New(conn)
	c.Patience = remote.UsualPatience
	return left.Fetch(c, r)
}

// awaitFrames fetches a run that is on until it has so many frames.
func awaitFrames(address, output string, frames int64) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if fetched, err := fetch(address, left.Request{Output: output}); err != nil || fetched.Frames >= frames {
			return err
		}
	}
	return fmt.Errorf("the run does not come to %d frames", frames)
}

// TestLeft leaves a run to a stub and fetches it, first while it is on, then at its end. The values of a variable follow one another
// all the while: nothing of the run began anew.
func TestLeft(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	stubs.Each(t, func(t *testing.T, server []string) {
		output := filepath.Join(t.TempDir(), "run.tf")
		stubs.Survive(t, func() (*remote.Target, error) {
			address := stubs.Start(t, server, p.Path, "1000").Address
			if on, err := leave(t, address, script, nil); err != nil {
				return on, err
			}
			var last int64
			for _, stop := range []bool{false, true} {
				if err := awaitFrames(address, output, last+1); err != nil {
					return nil, err
				}
				fetched, err := fetch(address, left.Request{Output: output, Stop: stop})
				if err != nil {
					return nil, err
				}
				if fetched.Unnamed != nil || fetched.Status.Running == stop || fetched.Frames <= last {
					t.Errorf("%+v after %d", fetched, last)
				}
				last = fetched.Frames
				check(t, output, p.Path, last)
			}
			return nil, nil
		})
	})
}

// check holds the file of a run of tick to what was defined.
func check(t *testing.T, output, program string, frames int64) {
	t.Helper()
	file := recording.File(t, output)
	h := file.Header()
	if int64(file.NumFrames()) != frames || len(h.Tracepoints) != 1 || h.Tracepoints[0].Source.At != "tick" ||
		!slices.Equal(h.Tracepoints[0].Source.Commands, []string{"collect $regs, $n", "teval $n = $n + 1"}) ||
		h.Status.Notes != "left alone" || !strings.Contains(h.Description, " "+program+" -->") || !strings.Contains(h.Description, "libc") {
		t.Errorf("%d frames, %+v, %+v, %s", file.NumFrames(), h.Tracepoints, h.Status, h.Description)
	}
	number := int32(-1)
	for _, v := range h.Variables {
		if v.Name == "n" && v.Initial == 5 {
			number = int32(v.Number)
		}
	}
	for i, text := range recording.Contents(t, file) {
		if !strings.Contains(text, fmt.Sprintf("$%d=%d", number, 5+i)) {
			t.Fatalf("frame %d has %s, want $n = %d", i, text, 5+i)
		}
	}
}

// TestLeftForGDB: stock GDB finds a run that was left, with its definitions, and can look at its frames.
func TestLeftForGDB(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	address := stubs.Start(t, nil, p.Path, "1000").Address
	if _, err := leave(t, address, script, nil); err != nil {
		t.Fatal(err)
	}
	if err := awaitFrames(address, filepath.Join(t.TempDir(), "run.tf"), 3); err != nil {
		t.Fatal(err)
	}
	out := gdbtest.Run(t, p.Path, "target remote "+address+"\n-- points --\ninfo tracepoints\n-- variables --\ninfo tvariables\n"+
		"tstop\n-- frame --\ntfind 2\nprintf \"n is %d\\n\", $n\n")
	for section, want := range map[string]string{"points": "collect $regs, $n", "variables": "$n", "frame": "n is 7"} {
		if got := out.Section(t, section); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", section, want, got)
		}
	}
}

// TestLacking refuses to leave what a stub has no means for.
func TestLacking(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	for feature, test := range map[string]struct {
		script, says string
		set          func(*left.Run)
	}{
		"ConditionalTracepoints": {"trace push if pushes > 1\n", "tracepoint 1 at push: the stub knows no conditions", nil},
		"tracenz":                {"trace push\nactions\ncollect/s (char *)item->label\nend\n", "cannot collect strings", nil},
		"QTBuffer:size":          {"trace push\n", "does not let others say how large its buffer is", func(r *left.Run) { r.Buffer = 1 << 20 }},
		"DisconnectedTracing":    {"trace push\n", "does not trace without a client", nil},
		"nothing of its own":     {"trace push\nactions\ncollect $tid\nend\n", "the stub has no $tid", nil},
	} {
		t.Run(feature, func(t *testing.T) {
			address := stubs.Ahead(t, stubs.Start(t, nil, p.Path, "12").Address, feature).Listen(t)
			if _, err := leave(t, address, test.script, test.set); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %q", err, test.says)
			}
		})
	}
}

// TestFetchErrors: what there is to fetch is asked before anything is changed.
func TestFetchErrors(t *testing.T) {
	p := testprog.Build(t, "sleeper", testprog.Variant{})
	output := filepath.Join(t.TempDir(), "run.tf")
	if _, err := fetch(stubs.Start(t, nil, p.Path).Address, left.Request{Output: output}); err == nil || !strings.Contains(err.Error(), "no run") {
		t.Error(err)
	}
	mute := &stubs.Relay{Answer: func(string) string { return "" }}
	if _, err := fetch(mute.Listen(t), left.Request{Output: output}); err == nil || !strings.Contains(err.Error(), "has no tracepoints") {
		t.Error(err)
	}
	// A circular buffer moves while it is read.
	address := stubs.Start(t, nil, p.Path, "1000").Address
	if _, err := leave(t, address, script, func(r *left.Run) { r.Circular, r.Buffer = true, 1<<20 }); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(address, left.Request{Output: output}); err == nil || !strings.Contains(err.Error(), "has to be stopped") {
		t.Error(err)
	}
	if fetched, err := fetch(address, left.Request{Output: output, Stop: true}); err != nil || fetched.Status.Running {
		t.Errorf("%+v, %v", fetched, err)
	}
}
