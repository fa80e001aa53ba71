package dap_test

import (
	_ "embed"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/dap"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

//go:embed client.js
var client string

// TestOtherClient has the client of npm's debugadapter-testsupport start the adapter, as editors do, and send every request that there
// is for a recording.
func TestOtherClient(t *testing.T) {
	adapter := gdbtest.Binary(t)
	t.Chdir(t.TempDir())
	if got := clitest.Run(t, strings.Fields("gen-trace -n 3000 -o run.log --elf prog")...); got.Status != console.StatusDone {
		t.Fatalf("%+v", got)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("prog.c")
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(source), "seed ^= seed << 13")
	if !ok {
		t.Fatal("the program has no such line")
	}
	line := strings.Count(before, "\n") + 1
	output, err := testtool.Node(t, client, adapter, folder, strconv.Itoa(line)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var seen struct {
		Verified      bool
		Calls, Scopes []string
		Answered      []string
		Refused       []string
	}
	if err := json.Unmarshal(output, &seen); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if !seen.Verified || !reflect.DeepEqual(seen.Calls, []string{"mix", "start"}) ||
		!reflect.DeepEqual(seen.Scopes, []string{"Position", "Locals", "Registers", "Frames"}) {
		t.Errorf("%+v", seen)
	}
	if len(seen.Refused) > 0 {
		t.Errorf("requests that were refused: %q", seen.Refused)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-zA-Z/]+)`").FindAllStringSubmatch(dap.Reference(), -1) {
		if name := row[1]; name != "attach" && !slices.Contains(seen.Answered, name) {
			t.Errorf("the client has not sent %s", name)
		}
	}
}

// TestListen refuses a place that is none.
func TestListen(t *testing.T) {
	if got := clitest.Run(t, "dap", "--listen", "localhost:http"); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "--listen") {
		t.Errorf("%+v", got)
	}
}
