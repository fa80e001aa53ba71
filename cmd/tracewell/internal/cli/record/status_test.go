//go:build linux

package record

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/sys"
	"tracewell/record"
)

// feeds are how a run stands at three moments, a second apart.
func feeds() func() record.Feed {
	n := uint64(0)
	at := time.Unix(1000, 0)
	return func() record.Feed {
		n++
		at = at.Add(time.Second)
		return record.Feed{At: at, Frames: int64(100 * n), Bytes: int64(2048 * n), Points: []record.PointFeed{
			{Number: 1, At: "push", Hits: 1000 * n, Frames: 100 * n, Bytes: 2048 * n},
			{Number: 2, At: "libq.c:7", Pending: true},
			{Number: 3, At: "pop", Hits: 7, Errors: n, LastError: "cannot read memory at 0x0"},
		}}
	}
}

// TestRunTable: on a terminal there is a table that is drawn over itself, with messages above it, and none when all is over.
func TestRunTable(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	master, path, err := sys.OpenTerminalPair()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	line, err := sys.OpenSerial(path)
	if err != nil {
		t.Fatal(err)
	}
	var printed clitest.Screen
	go io.Copy(&printed, master)
	s := newRunStatus(line, false, false)
	s.say("first")
	s.watch(feeds())
	const rows = " 1  push                      2000   1000     200  4.0 KiB       0\n"
	printed.Shows(t, rows)
	printed.Shows(t, "2  libq.c:7 (not found yet)")
	printed.Shows(t, "    cannot read memory at 0x0\n")
	s.warn(errors.New("second"))
	printed.Shows(t, "\r\x1b[5A\x1b[Jtracewell: warning: second\ntp  location")
	s.stop()
	s.say("the end")
	printed.Shows(t, "\r\x1b[5A\x1b[J\rthe end\n")
	line.Close()
}

// TestRunLines: where there is no terminal there are lines, and a table at the end.
func TestRunLines(t *testing.T) {
	for quiet, want := range map[bool]string{
		false: `first
0s: 1007 hits, 100 frames, 2.0 KiB, 1 error
tracewell: warning: second
tp  location                  hits  frames    bytes  errors
 1  push                      2000     200  4.0 KiB       0
 2  libq.c:7 (not found yet)     0       0      0 B       0
 3  pop                          7       0      0 B       2
    cannot read memory at 0x0
`,
		true: "tracewell: warning: second\n",
	} {
		file, err := os.Create(filepath.Join(t.TempDir(), "messages"))
		if err != nil {
			t.Fatal(err)
		}
		s := newRunStatus(file, quiet, false)
		feed := feeds()
		s.say("first")
		s.feed, s.start = feed, time.Now()
		if s.plain {
			s.refresh()
		} else {
			feed()
		}
		s.warn(errors.New("second"))
		s.summary(feed())
		file.Close()
		if diff := cmp.Diff(want, clitest.Content(t, file.Name())); diff != "" {
			t.Errorf("quiet %v: (-want +got)\n%s", quiet, diff)
		}
	}
}

// TestRunTableHeight: a table that is higher than the terminal would not be drawn over itself.
func TestRunTableHeight(t *testing.T) {
	s := &runStatus{height: 4}
	got := strings.Split(strings.TrimSuffix(string(s.lines(feeds()())), "\n"), "\n")
	if len(got) != 3 || got[2] != "… 2 more …" {
		t.Errorf("%q", got)
	}
}
