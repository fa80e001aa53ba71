package show

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/gdbtest"
)

// gdbFrame is what GDB says of a frame once it was selected by its number. Its own searches of trace files go by the place of
// the tracepoint, not of the frame, and pass frames over.
type gdbFrame struct {
	tracepoint int    // by the number in the file
	pc         uint64 // 0 if not known
	holds      []bool // for each of conditions
}

// conditions are in C, so GDB can be asked.
var conditions = []string{
	"n > 5",
	"n > 5 && n % 2 == 1",
	"sum == 0",
	"limit == 40",
	"$rsi > 0x405400 && $rsi <= 0x405600",
	"$rdx & 1",
	"$rip == 0x40124f || $rip == 0x401280",
	"limit + 2 == 42 && $rax > 3",
}

// framesOfGDB asks GDB for all frames of the basic file.
func framesOfGDB(t *testing.T) []gdbFrame {
	t.Helper()
	const count = 85
	var script strings.Builder
	fmt.Fprintf(&script, "-- open --\ntarget tfile %s\n", clitest.Absolute(t, clitest.Basic))
	for i := range count {
		fmt.Fprintf(&script, "-- %d --\ntfind %d\nprintf \"tp %%d\\n\", $tracepoint\n? printf \"pc %%#lx\\n\", $pc\n", i, i)
		for j, condition := range conditions {
			fmt.Fprintf(&script, "? printf \"%d is %%d\\n\", !!(%s)\n", j, condition)
		}
	}
	output := gdbtest.Run(t, clitest.Absolute(t, clitest.BasicProgram), script.String())
	numbers := make(map[string]int) // by GDB's own
	for _, m := range regexp.MustCompile(`Created tracepoint (\d+) for target's tracepoint (\d+)`).FindAllStringSubmatch(output.All, -1) {
		numbers[m[1]], _ = strconv.Atoi(m[2])
	}
	var frames []gdbFrame
	for i := range count {
		frame := gdbFrame{holds: make([]bool, len(conditions))}
		for line := range strings.Lines(output.Section(t, strconv.Itoa(i))) {
			fields := strings.Fields(line)
			switch {
			case len(fields) == 2 && fields[0] == "tp":
				frame.tracepoint = numbers[fields[1]]
			case len(fields) == 2 && fields[0] == "pc":
				frame.pc, _ = strconv.ParseUint(fields[1], 0, 64)
			case len(fields) == 3 && fields[1] == "is":
				j, _ := strconv.Atoi(fields[0])
				frame.holds[j] = fields[2] == "1"
			}
		}
		if frame.tracepoint == 0 {
			t.Fatalf("GDB has no tracepoint of frame %d:\n%s", i, output.Section(t, strconv.Itoa(i)))
		}
		frames = append(frames, frame)
	}
	return frames
}

// TestGDBFinds holds what show finds against GDB's idea of each frame.
func TestGDBFinds(t *testing.T) {
	frames := framesOfGDB(t)
	type search struct {
		args  []string
		wants func(gdbFrame) bool
	}
	searches := []search{
		{[]string{"-t", "2"}, func(f gdbFrame) bool { return f.tracepoint == 2 }},
		{[]string{"-t", "3", "-t", "4"}, func(f gdbFrame) bool { return f.tracepoint >= 3 }},
		{[]string{"--pc", "0x40124f"}, func(f gdbFrame) bool { return f.pc == 0x40124f }},
		{[]string{"--pc", "work+15", "--pc", "queue.c:23"}, func(f gdbFrame) bool { return f.pc == 0x40124f || f.pc == 0x4011b5 }},
		{[]string{"--range", "0x4011e9,0x40124f"}, func(f gdbFrame) bool { return f.pc >= 0x4011e9 && f.pc <= 0x40124f }},
		{[]string{"--range", "work"}, func(f gdbFrame) bool { return f.tracepoint == 4 }},
		{[]string{"--outside", "0x4011e9,0x40124f"}, func(f gdbFrame) bool { return f.pc < 0x4011e9 || f.pc > 0x40124f }},
		{[]string{"--outside", "work", "--outside", "pop"}, func(f gdbFrame) bool { return f.tracepoint == 2 }},
		{[]string{"-t", "4", "--outside", "0x40124f,0x40124f", "--where", conditions[4]},
			func(f gdbFrame) bool { return f.tracepoint == 4 && f.pc != 0x40124f && f.holds[4] }},
	}
	for i, condition := range conditions {
		searches = append(searches, search{[]string{"--where", condition}, func(f gdbFrame) bool { return f.holds[i] }})
	}
	for _, s := range searches {
		t.Run(strings.Join(s.args, " "), func(t *testing.T) {
			var want []int
			for i, frame := range frames {
				if s.wants(frame) {
					want = append(want, i)
				}
			}
			args := append([]string{"show", clitest.Basic, "--exec", clitest.BasicProgram}, s.args...)
			var got []int
			for _, frame := range clitest.Objects(t, clitest.Run(t, append(args, "--json", "-r", "rip")...).Stdout) {
				got = append(got, frame.Frame)
			}
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("show finds %v\nGDB %v", got, want)
			}
			if count := clitest.Run(t, append(args, "--count")...).Stdout; count != fmt.Sprintln(len(want)) {
				t.Errorf("show counts %s, want %d", count, len(want))
			}
		})
	}
}

// TestGDBDumps compares what was collected by name in each frame with GDB's tdump, which goes by the same commands.
func TestGDBDumps(t *testing.T) {
	got := dumps(t, clitest.Basic, clitest.BasicProgram)
	want := dumpsOfGDB(t, len(got), clitest.Basic, "file "+clitest.Absolute(t, clitest.BasicProgram))
	for i := range got {
		if len(got[i]) == 0 || !slices.Equal(got[i], want[i]) {
			t.Errorf("frame %d: show has\n%s\nGDB\n%s", i, strings.Join(got[i], "\n"), strings.Join(want[i], "\n"))
		}
	}
}

// TestGDBDumpsMoved does so for a program that was loaded where only the tracepoints tell. GDB has to be told; it also knows
// what is in registers in optimised code.
func TestGDBDumpsMoved(t *testing.T) {
	got := dumps(t, clitest.Pie, clitest.PieProgram)
	want := dumpsOfGDB(t, len(got), clitest.Pie, "symbol-file -o 0x555555554000 "+clitest.Absolute(t, clitest.PieProgram))
	compared := 0
	for i := range got {
		for _, line := range got[i] {
			if compared++; !slices.Contains(want[i], line) {
				t.Errorf("frame %d: show has\n%s\nGDB\n%s", i, line, strings.Join(want[i], "\n"))
			}
		}
	}
	if compared < 90 {
		t.Errorf("show has only %d lines", compared)
	}
}

// dumps are what show says that was collected, by frame.
func dumps(t *testing.T, file, program string) [][]string {
	t.Helper()
	var all [][]string
	for _, frame := range strings.Split(clitest.Run(t, "show", file, "--exec", program, "--full", "-r", "rip").Stdout, "\n\nFrame ") {
		all = append(all, assignments(frame))
	}
	return all
}

// dumpsOfGDB are what GDB's tdump says after a command that reads the symbols.
func dumpsOfGDB(t *testing.T, count int, file, symbols string) [][]string {
	t.Helper()
	var script strings.Builder
	fmt.Fprintf(&script, "-- open --\n%s\ntarget tfile %s\n", symbols, clitest.Absolute(t, file))
	for i := range count {
		fmt.Fprintf(&script, "-- %d --\ntfind %d\ntdump\n", i, i)
	}
	output := gdbtest.Run(t, "", script.String())
	var all [][]string
	for i := range count {
		all = append(all, assignments(output.Section(t, strconv.Itoa(i))))
	}
	return all
}

// assigned is a line such as "q->head = 0x4052a0".
var assigned = regexp.MustCompile(`(?m)^[^ \n]+ = .*$`)

// assignments are such lines, sorted: GDB has parameters first.
func assignments(printed string) []string {
	lines := assigned.FindAllString(printed, -1)
	slices.Sort(lines)
	return slices.Compact(lines)
}
