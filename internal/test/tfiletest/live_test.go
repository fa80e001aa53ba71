package tfiletest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
	"tracewell/tdesc"
	"tracewell/tfile"
	"tracewell/tfile/ctf"
)

// live is a session that collects in every way: registers, locals, globals, variables, under a condition, with a pass count,
// with steps. Its run ends by the pass count.
const live = `
	set width 0
	target remote %s
	break main
	continue
	tvariable $hits = 0
	tvariable $negative = -5
	trace push
	actions
	collect $regs, $args, *item, pending
	teval $hits = $hits + 1
	collect $hits, $negative
	end
	condition 2 item->number > 2
	trace queue.c:pop
	actions
	collect $args, $locals, pops
	end
	passcount 4 3
	trace work
	actions
	collect $args
	while-stepping 3
	collect $regs, *item
	end
	end
	set trace-notes "notes; of: the \"queue\""
	set trace-user ada
	tstart
	break exit
	continue
	-- tell --
	tstop
	` + tell

// tell is what GDB tells of a run as a whole.
const tell = `
	tstatus
	info tvariables
	info tracepoints
`

// walk is what GDB tells of every frame.
const walk = `
	tfind start
	while $trace_frame != -1
	tdump
	info tvariables
	tfind
	end
`

// TestLive records a run with each server and reads what tsave made of it, the target's own file and the folder of tsave -ctf
// included. Each frame must be what GDB showed of it while it was live; and GDB must not be able to tell the trace files from
// what Writer makes of them.
func TestLive(t *testing.T) {
	// Each takes gdbserver's command line.
	for name, server := range map[string][]string{"tracewell": nil, "gdbserver": {testtool.Path(t, "gdbserver")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			record(t, server)
		})
	}
}

// liveFrames is how many frames the run has: 3 of push, 4 of pop, and of work 3 with 3 steps each.
const liveFrames = 3 + 4 + 3*(1+3)

func record(t *testing.T, server []string) {
	program := testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
	dir := t.TempDir()
	saved, onTarget, folder := filepath.Join(dir, "saved.tf"), filepath.Join(dir, "on-target.tf"), filepath.Join(dir, "ctf")
	s := gdbtest.Start(t, gdbtest.Config{Server: server, Comm: "localhost:0", Command: []string{program.Path, "10"}})
	script := fmt.Sprintf(live, s.Address)
	for i := range liveFrames {
		script += collectedScript(i)
	}
	script += searchScript() + "-- dumps --\n" + walk + "-- save --\ntfind none\ntsave " + saved + "\ntsave -ctf " + folder + "\n"
	if server == nil {
		script += "tsave -r " + onTarget + "\n"
	}
	output := gdbtest.Run(t, program.Path, script+"kill\n")
	layout := layoutOf(t, open(t, saved).Header())
	compareFrames(t, "tsave", output, open(t, saved), layout)
	compareSearches(t, output, open(t, saved), layout)
	compareFrames(t, "tsave -ctf", output, openCTF(t, folder), layout)
	compareRewritten(t, program, saved)
	compareCut(t, output, program, saved, layout)
	compareDumps(t, output, program, saved)
	if c := tracewell(t, nil, "check", saved); c.Status != 0 {
		t.Errorf("tracewell check says of the file of tsave:\n%s", c.Stdout)
	}
	if server == nil {
		compareFrames(t, "tsave -r", output, open(t, onTarget), layout)
		compareRewritten(t, program, onTarget)
	}
}

// compareFrames holds what was saved in some way against the live session.
func compareFrames(t *testing.T, way string, output *gdbtest.Output, c tfile.Content, layout *tdesc.Layout) {
	t.Helper()
	if n := c.NumFrames(); n != liveFrames {
		t.Fatalf("%s: %d frames, not %d; GDB printed\n%s", way, n, liveFrames, output.Section(t, "tell"))
	}
	var registers, memory, variables int
	for i := range liveFrames {
		told := toldByGDB(t, output, i, layout, nil)
		registers += len(told.Registers)
		memory += len(told.Memory)
		variables += len(told.Variables)
		frame, err := c.ReadFrame(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(told, toldByFrame(frame, c.Header(), layout, told.Registers)); diff != "" {
			t.Errorf("%s, frame %d (-live +saved):\n%s", way, i, diff)
		}
	}
	if registers < liveFrames*24 || memory < liveFrames || variables != 2*3 {
		t.Errorf("GDB told of %d registers, %d ranges of memory and %d variables only", registers, memory, variables)
	}
}

// compareRewritten has GDB open a file and what Writer makes of it.
func compareRewritten(t *testing.T, program *testprog.Program, file string) {
	t.Helper()
	var out bytes.Buffer
	if err := tfile.Write(&out, open(t, file)); err != nil {
		t.Fatal(err)
	}
	rewritten := save(t, out.Bytes())
	var printed []string
	for _, path := range []string{file, rewritten} {
		output := gdbtest.Run(t, program.Path, "target tfile "+path+tell+walk)
		printed = append(printed, output.All)
	}
	if strings.Contains(printed[1], "warning") {
		t.Errorf("GDB warns:\n%s", printed[1])
	}
	if n := strings.Count(printed[1], "Found trace frame"); n != liveFrames {
		t.Errorf("GDB finds %d frames of %d", n, liveFrames)
	}
	if diff := cmp.Diff(printed[0], printed[1]); diff != "" {
		t.Errorf("%s (-saved +rewritten):\n%s", file, diff)
	}
}

// compareCut cuts frames out of a file and has GDB show what is left: as it showed these frames live.
func compareCut(t *testing.T, output *gdbtest.Output, program *testprog.Program, file string, layout *tdesc.Layout) {
	t.Helper()
	const first, last = 4, 8
	cut := filepath.Join(t.TempDir(), "cut.tf")
	tracewell(t, nil, "convert", file, cut, "--frames", fmt.Sprintf("%d:%d", first, last))
	shown := gdbtest.Run(t, program.Path, openScript(cut, last-first+1, 1))
	if strings.Contains(shown.All, "warning") {
		t.Errorf("GDB warns:\n%s", shown.Section(t, "open"))
	}
	numbers := targetNumbers(t, shown.Section(t, "open"))
	for i := range last - first + 1 {
		want := toldByGDB(t, output, first+i, layout, nil)
		got := toldByGDB(t, shown, i, layout, numbers)
		maps.DeleteFunc(got.Registers, func(name, _ string) bool { return want.Registers[name] == "" }) // told in frame 0 only
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("frame %d (-live +cut):\n%s", first+i, diff)
		}
	}
}

func openCTF(t *testing.T, folder string) *ctf.Trace {
	t.Helper()
	metadata, err := os.ReadFile(filepath.Join(folder, ctf.MetadataName))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := os.ReadFile(filepath.Join(folder, ctf.StreamName))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ctf.Open(metadata, bytes.NewReader(stream), int64(len(stream)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t *testing.T, path string) *tfile.File {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tfile.OpenBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// save writes a trace file for GDB to open.
func save(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.tf")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
