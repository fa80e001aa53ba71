package corpus

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
)

// Arrival is what GDB saw when the program came to a marked line.
type Arrival struct {
	Mark      string
	PC        arch.Addr // where the program was loaded
	PID       int
	Registers map[string]string // numbers in hexadecimal, by the names of GDB
	Objects   []Object
	Values    []Value
}

// Object is a file that the program has loaded.
type Object struct {
	Path string
	Text arch.Addr // where its section .text is
}

// Value is a variable in sight, or an expression that was asked for. Inner variables come before those that they hide.
type Value struct {
	Name   string
	Kind   string // argument, local, global or expression
	Text   string // what GDB's print says, with its settings as they are at first and without pretty-printers
	Absent bool   // that is "<optimized out>"
	Error  string // why GDB has no value

	Uncollected string // why no tracepoint of GDB's can collect it; "" if one can
}

//go:embed observe.py
var observer string

// Environment is the one variable that programs have in their environment. Go's runtime then does not send signals to its own
// threads, which make one that stands at a breakpoint come to it twice.
const Environment = "GODEBUG=asyncpreemptoff=1"

// settings keep GDB from asking, the program from being loaded elsewhere or with another stack in each run, and the debugging
// information of the C library, which has names for everything, out of sight.
const settings = `set pagination off
set confirm off
set width 0
set height 0
set breakpoint pending on
set debuginfod enabled off
set debug-file-directory
set exec-wrapper env -i ` + Environment + "\n" + `set auto-load python-scripts off
`

// Observe runs a program in GDB and returns the first arrivals at each mark, in the order in which they happen. Extra are
// expressions to evaluate, by mark.
func Observe(t testing.TB, p *Program, most int, extra map[string][]string) []Arrival {
	t.Helper()
	var arrivals []Arrival
	Visit(t, p, most, extra, func(a Arrival) { arrivals = append(arrivals, a) })
	return arrivals
}

// Visit is Observe that calls a function at each arrival, while the program stands.
func Visit(t testing.TB, p *Program, most int, extra map[string][]string, visit func(Arrival)) {
	t.Helper()
	dir := t.TempDir()
	type breakpoint struct {
		Mark string `json:"mark"`
		At   string `json:"at"`
	}
	request := struct {
		Breakpoints []breakpoint        `json:"breakpoints"`
		Extra       map[string][]string `json:"extra"`
		Most        int                 `json:"most"`
	}{Extra: extra, Most: most}
	if extra == nil {
		request.Extra = map[string][]string{}
	}
	for _, m := range p.Marks {
		request.Breakpoints = append(request.Breakpoints, breakpoint{m.Name, m.At()})
	}
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, "gdb"), "-nx", "-q", "-batch", "-x", file("settings.gdb", []byte(settings)),
		"-x", file("observe.py", []byte(observer)), p.Path)
	cmd.Env = append(os.Environ(), "TRACEWELL_REQUEST="+file("request", text), "LC_ALL=C")
	cmd.ExtraFiles = []*os.File{write}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	goOn, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	lines := bufio.NewScanner(read)
	lines.Buffer(nil, 1<<24)
	for ; lines.Scan(); count++ {
		var a Arrival
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Error(err)
			break
		}
		visit(a)
		if _, err := goOn.Write([]byte{'\n'}); err != nil {
			t.Error(err)
			break
		}
	}
	goOn.Close()
	if err := cmd.Wait(); err != nil || count == 0 {
		t.Fatalf("GDB came to %d marked lines: %v\n%s", count, err, &output)
	}
}
