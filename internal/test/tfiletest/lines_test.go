package tfiletest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
	"tracewell/tfile"
	"tracewell/trace"
)

// linesSeed is of the files that are made of lines at random.
const linesSeed = 7

// statusForms are statuses in all forms that GDB, its manual and gdbserver write.
var statusForms = []string{
	"status 0;tnotrun:0", "status 0;tunknown:0;tframes:2;tcreated:2", "status 0;tstop::0;tframes:2;tcreated:5;tfree:10;tsize:100",
	"status 0;tstop:6e6f7465:0;tframes:2;tcreated:2;circular:1;disconn:1", "status 0;tstop:0;tframes:2", "status 0;tfull:0;tframes:2;tcreated:2",
	"status 0;tfull:1;tframes:2", "status 0;tdisconnected:0;tframes:2;tcreated:9", "status 0;tpasscount:2;tframes:2;tcreated:2",
	"status 0;terror:6f6f7073:3;tframes:2;tcreated:2", "status 1;tframes:2;tcreated:2", "status 1;tnotrun:0;tframes:2;tcreated:2",
	"status 1;tstop::0;tframes:2", "status 0", "status 1", "status 0;tframes:2;tframes:00000003;tcreated:3", "status 0;later:6e;tstop::0;tframes:2",
	"status 0;tstop::0;tframes:2;tcreated:2;circular:0;disconn:0;starttime:10;stoptime:20;username:616461;notes:6e:",
	"status T0;tstop:6e6f7465:0;tframes:2;tcreated:2", "status T1;tframes:2;tcreated:2", "status T0;tpasscount:2;tframes:2",
}

// otherLines are what GDB passes over.
var otherLines = []string{"foo bar", "tdescx y", "later", "tsv2:0:0:61", "TP T1:10:E:0:0", "R", "x " + strings.Repeat("long ", 150)}

// pieces are definitions of tracepoints, the T piece of each first.
var pieces = [][]string{
	{"tp T1:401100:E:0:0", "tp Z1:401100:at:0:9:2a3078343031313030", "tp A1:401100:R3", "tp Z1:401100:cmd:0:d:636f6c6c656374202472656773",
		"tp V1:401100:3:20"},
	{"tp T2:401200:D:0:5", "tp A2:401200:R123M-1,404000,4", "tp Z2:401200:cmd:0:d:636f6c6c656374202472656773", "tp V2:401200:0002:000010"},
	{"tp T3:401300:E:0:0", "tp A3:401300:R", "tp Z3:401300:cmd:0:d:636f6c6c656374202472656773"},
}

// randomLines makes definition lines, of which any may be missing, there twice, or elsewhere.
func randomLines(random *rand.Rand) []string {
	some := func(lines []string) (chosen []string) {
		for _, line := range lines {
			for range []int{0, 1, 1, 1, 2}[random.IntN(5)] {
				chosen = append(chosen, line)
			}
		}
		return chosen
	}
	lines := some([]string{"R 10", "R 010", "R 0x10"})
	for range random.IntN(3) {
		lines = append(lines, statusForms[random.IntN(len(statusForms))])
	}
	for range random.IntN(5) {
		number := 2 + random.IntN(2)
		lines = append(lines, fmt.Sprintf("tsv %x:%x:0:%x", number, random.IntN(100), fmt.Sprint("v", number, "abc"[random.IntN(3):])))
	}
	lines = append(lines, some(otherLines[:1+random.IntN(len(otherLines))])...)
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for _, p := range pieces[:random.IntN(len(pieces)+1)] {
		lines = append(append(lines, p[0]), some(p[1:])...)
	}
	return lines
}

// TestLinesAsGDB reads files of definition lines at random, and compares all with what GDB says of them.
func TestLinesAsGDB(t *testing.T) {
	random := rand.New(rand.NewPCG(linesSeed, linesSeed))
	ends := []string{end, "\x00\x00", ""}
	var files []string
	for range 80 {
		frames := frame(1, registers(1, 2, 3, 4)) + frame(2, memory(0x404000, "ab"))
		files = append(files, magic+strings.Join(randomLines(random), "\n")+"\n\n"+frames+ends[random.IntN(len(ends))])
	}
	for i, said := range askLines(t, files) {
		if complaint := holdLines(files[i], said); complaint != "" {
			t.Errorf("seed %d, file %d: %s\n%s\nGDB said:\n%s", linesSeed, i, complaint, strings.ReplaceAll(files[i], "\n\n", "\n...\n"), said)
		}
	}
}

// askLines has one GDB look at all files.
func askLines(t *testing.T, files []string) []string {
	t.Helper()
	dir := t.TempDir()
	script := "set width 0\nset height 0\nset confirm off\nset prompt\n"
	for i, data := range files {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		script += fmt.Sprintf("echo @%d@\\n\ntarget tfile %s\ntstatus\ntfind 0\ninfo tvariables\ninfo tracepoints\ntfind 1\ntfind 2\ntfind none\n"+
			"echo @\\n\ndelete\ndelete tvariable\n", i, path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), gdbtest.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, testtool.Path(t, "gdb"), "-nx", "-nh", "-q")
	cmd.Stdin = strings.NewReader(script + "echo end\\n\n")
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "TERM=dumb", "DEBUGINFOD_URLS=")
	out, err := cmd.CombinedOutput()
	if !strings.HasSuffix(string(out), "end\n") {
		t.Fatalf("GDB did not come to the end: %v\n%s", err, out)
	}
	said := make([]string, len(files))
	for i := range files {
		_, rest, _ := strings.Cut(string(out), fmt.Sprintf("@%d@\n", i))
		said[i], _, _ = strings.Cut(rest, "\n@\n")
	}
	return said
}

// holdLines compares what GDB says of a file with what tfile makes of it, and tells the first difference.
func holdLines(data, said string) string {
	f, err := tfile.OpenBytes([]byte(data))
	if f == nil {
		return err.Error()
	}
	rules := make(map[*tfile.Rule]bool)
	for _, finding := range f.Findings() {
		rules[finding.Rule] = true
	}
	if refused := strings.Contains(said, "No register block size"); refused || rules[tfile.RuleRegisterSize] {
		if refused != rules[tfile.RuleRegisterSize] {
			return fmt.Sprintf("GDB refuses it: %v", refused)
		}
		return ""
	}
	if ignored := strings.Contains(said, "Ignoring trace file definition"); ignored != rules[tfile.RuleUnknownLine] {
		return fmt.Sprintf("GDB passes over a line: %v", ignored)
	}
	_, last, _ := strings.Cut(said, "Found trace frame 1") // what GDB says sooner may be of the file before, whose place it goes on from
	if premature := strings.Contains(last, "Premature end of file"); premature != (err != nil) {
		return fmt.Sprintf("GDB tells of a premature end: %v, but not so %v", premature, err)
	}
	for _, want := range wantOfLines(f, said) {
		if !strings.Contains(said, want) {
			return fmt.Sprintf("GDB does not say %q", want)
		}
	}
	if diff := gocmp.Diff(variablesOf(f.Header().Variables), tvariable.FindAllString(said, -1)); diff != "" {
		return "variables (-here +GDB):\n" + diff
	}
	if n := strings.Count(said, "Created tracepoint"); n != len(f.Header().Tracepoints) {
		return fmt.Sprintf("GDB has %d tracepoints", n)
	}
	return ""
}

// tvariable finds the lines of "info tvariables", without what is collected.
var tvariable = regexp.MustCompile(`(?m)^\$\w+ +-?\d+`)

// variablesOf is what such lines begin with. GDB takes the variables from the last to the first.
func variablesOf(all []trace.Variable) (lines []string) {
	for _, v := range slices.Backward(all) {
		lines = append(lines, fmt.Sprintf("$%-14s %d", v.Name, v.Initial))
	}
	return lines
}

// created finds the number that GDB gives a tracepoint.
var created = regexp.MustCompile(`Created tracepoint (\d+) for target's tracepoint (\d+)`)

// wantOfLines is what GDB has to say of a file, but for its own numbers of tracepoints, which it says.
func wantOfLines(f *tfile.File, said string) (want []string) {
	h := f.Header()
	for i := range f.NumFrames() {
		number := fmt.Sprint(f.Tracepoint(i))
		for _, m := range created.FindAllStringSubmatch(said, -1) {
			if m[2] == number {
				number = m[1]
				break
			}
		}
		want = append(want, fmt.Sprintf("Found trace frame %d, tracepoint %s\n", i, number))
	}
	if h.Status != nil {
		reply := false
		for _, d := range f.Definitions() {
			if rest, is := strings.CutPrefix(d.Text, "status "); is {
				reply = rest[0] == 'T'
			}
		}
		want = append(want, wantOfStatus(*h.Status, reply)...)
	}
	for i := range h.Tracepoints {
		t := &h.Tracepoints[i]
		want = append(want, fmt.Sprintf("for target's tracepoint %d at %v.", t.Number, t.Addr))
		if t.Hits > 0 {
			want = append(want, fmt.Sprintf("already hit %d time", t.Hits), fmt.Sprintf("trace buffer usage %d bytes", t.Usage))
		}
		if t.Pass > 0 {
			want = append(want, fmt.Sprintf("pass count %d", t.Pass))
		}
	}
	return want
}

// wantOfStatus is what GDB says of a status, and of one with the T of the packet, in which it passes over what matters most.
func wantOfStatus(st trace.Status, reply bool) (want []string) {
	reason := map[trace.StopReason]string{
		"": "Trace stopped for an unknown reason.", trace.ReasonUnknown: "Trace stopped for an unknown reason.",
		trace.ReasonNotRun: "No trace has been run on the target.", trace.ReasonStop: "Trace stopped by a tstop command",
		trace.ReasonFull: "Trace stopped because the buffer was full.", trace.ReasonDisconnected: "Trace stopped because of disconnection.",
		trace.ReasonPassCount: "Trace stopped by tracepoint ", trace.ReasonError: "Trace stopped by an error (" + st.Description,
	}[st.Reason]
	switch {
	case reply:
		return []string{"Trace stopped for an unknown reason."}
	case st.Running:
		reason = "Trace is running on the target."
	}
	want = append(want, reason)
	switch {
	case st.Frames >= 0 && st.Created > st.Frames:
		want = append(want, fmt.Sprintf("Buffer contains %d trace frames (of %d created total).", st.Frames, st.Created))
	case st.Frames > 0:
		want = append(want, fmt.Sprintf("Collected %d trace frames.", st.Frames))
	}
	if st.Circular {
		want = append(want, "Trace buffer is circular")
	}
	return want
}
