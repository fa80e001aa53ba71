package replay

import (
	"os"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/target"
)

// TestReplayForms replays one execution trace in every form in which it may come: compressed, as JSON lines, out of a pipe.
func TestReplayForms(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{
		"gen-trace -n 3000 -o run.log --elf prog", "gen-trace -n 3000 -o run.log.gz", "gen-trace -n 3000 -o run.log.zst", "convert run.log run.jsonl",
	} {
		if got := clitest.Run(t, strings.Fields(args)...); got.Status != console.StatusDone {
			t.Fatalf("%s: %+v", args, got)
		}
	}
	for _, file := range []string{"run.log", "run.log.gz", "run.log.zst", "run.jsonl", "-"} {
		streams := console.Streams{In: os.Stdin, Out: os.Stdout, Err: nowhere(t)}
		if file == "-" {
			streams.In = clitest.Piped(t, "run.log")
		}
		for _, exec := range []string{"", "prog"} {
			if file == "-" && exec != "" {
				continue // the pipe has been read
			}
			c := Command{File: file, Exec: exec}
			c.Endian, c.Index = "auto", "beside"
			r, err := c.open(streams)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			config, err := r.Config()
			if err != nil {
				t.Fatal(err)
			}
			if err := config.Target.Runner().Resume([]target.Action{{Thread: config.Target.Threads()[0]}}); err != nil {
				t.Fatal(err)
			}
			ev := <-config.Target.Runner().Events()
			says := where(t, config.Target)
			if ev.Reason != target.ReasonEnd || says != "behind the last of 3000 instructions\n" {
				t.Errorf("%s: %+v, %s", file, ev, says)
			}
			if err := r.Close(); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// where is what monitor where says.
func where(t *testing.T, replayed target.Target) string {
	t.Helper()
	for _, c := range replayed.MonitorCommands().Commands() {
		if c.Name == "where" {
			says, err := c.Do(replayed.Threads()[0], "")
			if err != nil {
				t.Fatal(err)
			}
			return says
		}
	}
	return ""
}
