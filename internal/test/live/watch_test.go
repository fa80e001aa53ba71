package live

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// TestWatched has GDB control a traced program while a page shows its frames and another GDB watches: the page has the frames that there
// are so far and says where the program stopped; the other GDB reads what the first reads, and its continue is refused.
func TestWatched(t *testing.T) {
	t.Parallel()
	program := testprog.Build(t, "queue", testprog.Variant{})
	server := gdbtest.Start(t, gdbtest.Config{Flags: []string{"--view"}, Command: []string{program.Path, "20"}})
	folder := t.TempDir()
	ready, done := filepath.Join(folder, "ready"), filepath.Join(folder, "done")

	var second *gdbtest.Output
	var shown tracePage
	var problem error
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer os.WriteFile(done, nil, 0o600)
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(ready); err == nil {
				break
			} else if time.Now().After(end) {
				return
			}
		}
		if shown, problem = pageShowing(server, 7); problem != nil {
			return
		}
		second = gdbtest.Run(t, program.Path, `
			target remote `+server.Address+`
			-- reads --
			info registers rip
			print item->number
			print pushes
			tstatus
			-- refused --
			stepi
			? print pushes = 1
			? tstop
			info registers rip
			detach
		`)
	}()
	first := gdbtest.Run(t, program.Path, `
		target remote `+server.Address+`
		break main
		continue
		delete
		trace push
		actions
		collect item->number, pushes
		end
		tstart
		break push if item->number == 7
		continue
		-- reads --
		info registers rip
		print item->number
		print pushes
		shell touch `+ready+`; while [ ! -e `+done+` ]; do sleep 0.05; done
		-- after --
		print pushes
		tstatus
		delete
		continue
	`)
	<-watched
	if problem != nil || second == nil {
		t.Fatalf("nobody watched: %v\n%s", problem, server.Stderr())
	}
	if want := "stopped at push"; shown.Frames != 7 || !strings.HasPrefix(shown.Debuggee.Text, want) {
		t.Errorf("the page has %d frames, and says %+v", shown.Frames, shown.Debuggee)
	}
	reads := first.Section(t, "reads")
	if got := second.Section(t, "reads"); !strings.HasPrefix(got, reads) || !strings.Contains(got, "Collected 7 trace frames") {
		t.Errorf("the first GDB reads\n%s\nthe second\n%s", reads, got)
	}
	const refusal = "this client watches: another one controls the program"
	contains(t, second, "refused", "warning: Remote failure reply: E."+refusal, "error: Cannot access memory", regexp.MustCompile(`rip .*`).FindString(reads))
	contains(t, first, "after", "= 6", "Trace is running on the target")
	contains(t, first, "after", "exited normally")
}

// tracePage is what the tests read of what a page asks for first.
type tracePage struct {
	Frames   int
	Debuggee struct{ Text string }
}

// pageShowing asks the page that a server has printed the address of until it has so many frames, and returns what it tells then.
func pageShowing(server *gdbtest.Server, frames int) (page tracePage, err error) {
	address := regexp.MustCompile(`http://\S+`).FindString(server.Stderr())
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		reply, err := http.Get(address + "ask/trace")
		if err != nil {
			return page, err
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil {
			return page, err
		}
		page = tracePage{}
		if err := json.Unmarshal(text, &page); err != nil {
			return page, fmt.Errorf("%w in %s", err, text)
		}
		if page.Frames >= frames {
			return page, nil
		}
	}
	return page, fmt.Errorf("the page has only %d frames", page.Frames)
}
