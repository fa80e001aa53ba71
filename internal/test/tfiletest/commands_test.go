package tfiletest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
)

// testdata is where the recorded files are.
const testdata = "../../../tfile/testdata"

// ran is what a command did.
type ran struct {
	Status int
	Stdout string
}

// tracewell runs the command as its user does. What it says on standard error is in the test's log.
func tracewell(t *testing.T, stdin []byte, args ...string) ran {
	t.Helper()
	cmd := exec.Command(gdbtest.Binary(t), args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	t.Logf("tracewell %s: status %d %s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), &stderr)
	return ran{cmd.ProcessState.ExitCode(), string(stdout)}
}

// recorded are the files, with the status of each command that reads them: queue-pie is at addresses that its program has
// only when it runs, and the one frame of queue-fast is damaged.
var recorded = map[string]map[string]int{
	"queue-basic": {"info": 0, "show": 0, "check": 0},
	"queue-pie":   {"info": 0, "show": 0, "check": 1},
	"queue-fast":  {"info": 0, "show": 2, "check": 1},
}

// forms are what a recorded file is written as. Through each of them and back it has to be the same file, and through the
// Common Trace Format the same frames.
var forms = []string{"copy.tf", "copy.tf.gz", "copy.tf.zst", "copy.txt", "copy.txt.gz", commonFormat}

const commonFormat = "folder/"

// TestCommands runs each command on each recorded file, as it is, compressed, and from standard input: the answer has to be
// the same.
func TestCommands(t *testing.T) {
	for name, statuses := range recorded {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(testdata, name+".tf")
			original, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, form := range forms {
				there, back := dir+"/"+form, filepath.Join(dir, "back.tf")
				tracewell(t, nil, "convert", path, there)
				tracewell(t, nil, "convert", there, back)
				want := original
				got, err := os.ReadFile(back)
				if err != nil {
					t.Fatal(err)
				}
				if form == commonFormat {
					got, want = framesOf(got), framesOf(original)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s and back is another file", form)
				}
			}
			for command, status := range statuses {
				args := []string{command, "--json"}
				want := tracewell(t, original, append(args, "-")...)
				if want.Status != status || want.Stdout == "" {
					t.Errorf("%s ends with status %d, not %d", command, want.Status, status)
				}
				for _, form := range forms[:3] {
					file := filepath.Join(dir, form)
					got := tracewell(t, nil, append(args, file)...)
					got.Stdout = strings.ReplaceAll(got.Stdout, file, "standard input")
					if diff := gocmp.Diff(want, got); diff != "" {
						t.Errorf("%s (-standard input +%s):\n%s", command, form, diff)
					}
				}
			}
		})
	}
}

// TestConvertGDBsCTF converts the folder that GDB's tsave -ctf wrote of the run of queue-basic: to the same frames as those of
// the file that its tsave wrote.
func TestConvertGDBsCTF(t *testing.T) {
	converted := filepath.Join(t.TempDir(), "converted.tf")
	c := tracewell(t, nil, "convert", "../../../tfile/ctf/testdata/queue-basic", converted)
	if c.Status != 0 {
		t.Errorf("convert ends with status %d", c.Status)
	}
	got, err := os.ReadFile(converted)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(testdata, "queue-basic.tf"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(framesOf(got), framesOf(want)) {
		t.Error("the frames are others")
	}
}

// framesOf is a file without its definitions.
func framesOf(data []byte) []byte {
	_, frames, _ := bytes.Cut(data, []byte("\n\n"))
	return frames
}

// shownFrame is what show --json prints of a frame.
type shownFrame struct {
	Tracepoint int
	Registers  map[string]string
	Memory     []struct{ Address, Bytes string }
	Variables  map[string]int64
}

// compareShown holds what tracewell show prints of frames against what GDB told of the same file by openScript.
func compareShown(t *testing.T, path string, output *gdbtest.Output, every int) {
	t.Helper()
	layout := layoutOf(t, open(t, path).Header())
	numbers := targetNumbers(t, output.Section(t, "open"))
	i := 0
	for line := range strings.Lines(tracewell(t, nil, "show", "--json", path).Stdout) {
		if i++; (i-1)%every != 0 {
			continue
		}
		var shown shownFrame
		if err := json.Unmarshal([]byte(line), &shown); err != nil {
			t.Fatal(err)
		}
		told := toldByGDB(t, output, i-1, layout, numbers)
		if int(told.Tracepoint) != shown.Tracepoint {
			t.Errorf("frame %d: of tracepoint %d, GDB says %d", i-1, shown.Tracepoint, told.Tracepoint)
		}
		shown.compareRegisters(t, i-1, told.Registers)
		var variables []string
		for name, value := range shown.Variables {
			variables = append(variables, fmt.Sprint(name, " = ", value))
		}
		slices.Sort(variables)
		if diff := gocmp.Diff(told.Variables, variables); diff != "" {
			t.Errorf("frame %d: variables (-GDB +ours):\n%s", i-1, diff)
		}
		for _, block := range shown.Memory {
			if !slices.ContainsFunc(told.Memory, func(told string) bool { return holds(t, told, block.Address, block.Bytes) }) {
				t.Errorf("frame %d: memory %s: %s is not what GDB shows: %v", i-1, block.Address, block.Bytes, told.Memory)
			}
		}
	}
	if i == 0 {
		t.Error("no frames are shown")
	}
}

// compareRegisters compares the whole numbers, which GDB prints first in hexadecimal.
func (s *shownFrame) compareRegisters(t *testing.T, frame int, told map[string]string) {
	t.Helper()
	if len(s.Registers) == 0 {
		return
	}
	compared := 0
	for name, value := range told {
		want, _, _ := strings.Cut(value, " ")
		if !strings.HasPrefix(want, "0x") {
			continue
		}
		compared++
		if got := s.Registers[name]; got != want {
			t.Errorf("frame %d: %s is %s, GDB prints %s", frame, name, got, want)
		}
	}
	if compared < 24 {
		t.Errorf("frame %d: %d registers compared", frame, compared)
	}
}

// holds reports whether memory as GDB told it, "0x1000: 2a2b", holds a block.
func holds(t *testing.T, told, addr, block string) bool {
	t.Helper()
	base, contents, _ := strings.Cut(told, ": ")
	start, err := strconv.ParseUint(base, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	at, err := strconv.ParseUint(addr, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	skip := 2 * (at - start)
	return at >= start && skip <= uint64(len(contents)) && strings.HasPrefix(contents[skip:], block)
}
