//go:build linux && amd64

package guardtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/tfile"
)

// TestNothingLost kills recorders that trace by pads, at random moments. What each has written to its file and what mend finds in the
// program's memory are all frames that were made, and no frame is in both. A server has no file; there what mend finds has no gap.
func TestNothingLost(t *testing.T) {
	for _, how := range []testprog.Variant{{NoPIE: true}, {}} {
		for _, tool := range []string{"record", "serve"} {
			t.Run(tool+"/"+how.String(), func(t *testing.T) {
				l := newLabOf(t, how)
				var tally keptTally
				n := max(3, *padKills/4)
				for i := range n {
					l.keptTrial(tool, 1+i%3, &tally)
				}
				t.Logf("%d kills: %d frames in files, %d more found in memory, which had %d besides that were in a file", n, tally.written,
					tally.found, tally.twice)
				if tool == "record" && (tally.written == 0 || tally.found == 0) {
					t.Errorf("%+v", tally)
				}
			})
		}
	}
}

// keptTally counts frames.
type keptTally struct{ written, found, twice int }

// keptTrial kills a tracer that makes pads, once.
func (l *lab) keptTrial(tool string, threads int, tally *keptTally) {
	l.Helper()
	s := l.run(threads, "0")
	defer s.Process.Kill()
	pid := s.Process.Pid
	run, rest := filepath.Join(l.dir, fmt.Sprintf("%d.tf", pid)), filepath.Join(l.dir, fmt.Sprintf("%d.rest.tf", pid))
	mend := exec.Command(l.tracewell, "mend", fmt.Sprint(pid), "-o", rest)
	k := &tracer{lab: l}
	if tool == "record" {
		mend.Args = append(mend.Args, "--recorded", run)
		k.traceFile = run
		k.Cmd = exec.Command(l.tracewell, "record", "-q", "--pads", "--at", "tick", "--collect", "$rdi, $rsp", "--pid", fmt.Sprint(pid), "-o", run)
		k.begin()
		k.await("the recorder writes frames", func() bool {
			status, err := os.Stat(run)
			return err == nil && status.Size() > definitions
		})
		k.traceFile = "" // it is looked at below
	} else {
		k = l.server(fmt.Sprint(pid), "--pads")
		if err := client.Command(k.Client, request.CircularBuffer, true); err != nil { // or it is full at once
			l.Fatal(err)
		}
		k.traceAt(l.bias(pid) + l.tick)
	}
	time.Sleep(rand.N(longestKept))
	k.kill()

	printed, err := mend.CombinedOutput()
	if err != nil {
		l.Errorf("mend: %v: %s", err, printed)
	}
	var twice int
	if _, after, found := strings.Cut(string(printed), "saved\n"); found {
		if _, err := fmt.Sscanf(after, "%d frame", &twice); err != nil {
			twice = 0 // it is about something else
		}
	}
	latest := calls{}
	for _, name := range []string{run, rest} {
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) { // a server's, or there was no frame
			continue
		}
		os.Remove(name)
		f, err := tfile.OpenBytes(data)
		if err == nil {
			err = latest.follow(f, 1)
		}
		if err != nil {
			l.Errorf("%s: %v; mend: %s", name, err, printed)
			return
		}
		if name == run {
			tally.written += f.NumFrames()
		} else {
			tally.found += f.NumFrames()
		}
	}
	tally.twice += twice
	if printed, err := s.finish(); err != nil || printed != l.rightAnswer(threads) {
		l.Errorf("the program printed %q, and ended with %v", printed, err)
	}
}

// definitions is more than what precedes the frames in a file.
const definitions = 64 << 10

// longestKept is how long a tracer traces at most when it is killed. A recorder writes some hundred megabytes a second.
const longestKept = 60 * time.Millisecond
