package ctf

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/testtool"
	"tracewell/tfile"
)

// saved writes a trace into a folder of the test and returns that.
func saved(t testing.TB, c tfile.Content) string {
	t.Helper()
	dir := t.TempDir()
	metadata, stream := written(t, c)
	for name, data := range map[string][]byte{MetadataName: metadata, StreamName: stream} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// told is what a babeltrace prints of a trace, a line for each event. A complaint fails the test.
func told(t testing.TB, command, dir string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var complaints strings.Builder
	cmd := exec.CommandContext(ctx, testtool.Path(t, command), "--clock-gmt", dir)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s: %v\n%s", command, err, complaints.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// printed is what a babeltrace should print of the frames. Registers are a string for it, of which only the bytes up to the
// first zero are printed, so that they are left out.
func printed(t testing.TB, c tfile.Content) []string {
	var lines []string
	for i := range c.NumFrames() {
		f := frameOf(t, c, i)
		add := func(event, format string, args ...any) {
			lines = append(lines, fmt.Sprintf("%s: { tpnum = %d }, { ", event, f.Tracepoint())+fmt.Sprintf(format, args...)+"}")
		}
		add("frame", "")
		end := tfile.FrameHeader
		for b := range f.Blocks() {
			switch b.Kind {
			case tfile.BlockRegisters:
				add("register", "… ")
			case tfile.BlockMemory:
				add("memory", "address = 0x%X, length = %d, contents = %s ", uint64(b.Addr), len(b.Bytes), array(b.Bytes))
			case tfile.BlockVariable:
				add("tsv", "val = 0x%X, num = %d ", uint64(b.Value), uint32(b.Number))
			case tfile.BlockStatic:
				add("static", "length = %d, contents = %s ", len(b.Bytes), array(b.Bytes))
			}
			end = b.End()
		}
		if rest := f.Bytes()[end:]; len(rest) > 0 {
			add("rest", "length = %d, contents = %s ", len(rest), array(rest))
		}
	}
	return lines
}

func array(p []byte) string {
	var b strings.Builder
	b.WriteString("[ ")
	for i, c := range p {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "[%d] = %d", i, c)
	}
	if len(p) > 0 {
		b.WriteByte(' ')
	}
	return b.String() + "]"
}

// TestBabeltrace has both babeltraces print what was written, and compares every event with the frames.
func TestBabeltrace(t *testing.T) {
	contents := map[string]tfile.Content{"queue-basic": openTraceFile(t, "queue-basic.tf"), "queue-fast": openTraceFile(t, "queue-fast.tf")}
	for name, order := range orders {
		for _, size := range []int{1, 11000} {
			contents[fmt.Sprintf("%s %d", name, size)] = extremes(t, order, size)
		}
	}
	for name, c := range contents {
		t.Run(name, func(t *testing.T) {
			dir := saved(t, c)
			for _, command := range []string{"babeltrace", "babeltrace2"} {
				if diff := cmp.Diff(printed(t, c), framesOnly(told(t, command, dir))); diff != "" {
					t.Errorf("%s:\n%.3000s", command, diff)
				}
			}
		})
	}
}

// framesOnly passes over the definitions, which are of tracepoint 0, and takes out what registers hold: babeltrace prints line
// feeds as they are.
func framesOnly(lines []string) []string {
	var frames []string
	for _, line := range lines {
		if strings.Contains(line, ": { tpnum = ") && !strings.Contains(line, ": { tpnum = 0 }, ") {
			head, _, registers := strings.Cut(line, "contents = \"")
			if registers {
				line = head + "… }"
			}
			frames = append(frames, line)
		}
	}
	return frames
}

// TestBabeltraceDefinitions holds what babeltrace prints of the definitions against the header.
func TestBabeltraceDefinitions(t *testing.T) {
	want := []string{
		"frame: { tpnum = 0 }, { }",
		"status: { tpnum = 0 }, { stop_reason = 6, stopping_tracepoint = 7, traceframe_count = 3, traceframes_created = 2147483647, " +
			"buffer_free = 500, buffer_size = 2147483647, disconnected_tracing = 1, circular_buffer = 1 }",
		`tsv_def: { tpnum = 0 }, { initial_value = 0, number = 1, builtin = 1, name = "trace_timestamp" }`,
		`tsv_def: { tpnum = 0 }, { initial_value = -5, number = 65535, builtin = 0, name = "my" }`,
		`tp_def: { tpnum = 0 }, { addr = 0xFFFFFFFF80001000, traceframe_usage = 0x4000000000000, number = 7, enabled = 1, step = 3, ` +
			`pass = 2147483647, hit_count = 2147483647, type = 28, cond = "220127", action_num = 2, ` +
			`actions = [ [0] = "Rff01", [1] = "M3,7ffffffffffffff8,FFFF" ], step_action_num = 2, ` +
			`step_actions = [ [0] = "X00000003,220227", [1] = "L" ], at_string = "a.c:5", cond_string = "x > 3", cmd_num = 4, ` +
			`cmd_strings = [ [0] = "collect $regs", [1] = "while-stepping 3", [2] = "collect x", [3] = "end" ] }`,
	}
	for name, order := range orders {
		dir := saved(t, extremes(t, order, 16))
		for _, command := range []string{"babeltrace", "babeltrace2"} {
			if diff := cmp.Diff(want, told(t, command, dir)[:len(want)]); diff != "" {
				t.Errorf("%s, %s:\n%s", command, name, diff)
			}
		}
	}
}
