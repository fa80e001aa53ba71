package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/testtool"
)

// wellFormed are the formats from which the same bytes of a trace file come back, by what a path is to end in.
var wellFormed = []string{".tf", ".tf.gz", ".tf.zst", ".txt", ".txt.gz", ".txt.zst", "/"}

// TestConvertPairs converts from every format to every other and back to a trace file, which is the one it began with.
func TestConvertPairs(t *testing.T) {
	want := clitest.Content(t, clitest.Basic)
	folder := t.TempDir()
	path := func(parts ...string) string { return filepath.Join(folder, "run") + strings.Join(parts, "") }
	convert := func(in, out string) {
		t.Helper()
		if got := clitest.Run(t, "convert", in, out); got != (clitest.Outcome{}) {
			t.Fatalf("%s to %s: %+v", in, out, got)
		}
	}
	for _, from := range wellFormed {
		convert(clitest.Basic, path(from))
		for i, to := range wellFormed {
			out := path(strings.Repeat("-", i+1), to)
			convert(path(from), out)
			convert(out, path("-back.tf"))
			if clitest.Content(t, path("-back.tf")) != want {
				t.Errorf("by way of %s and %s other bytes came back", from, to)
			}
		}
	}
}

// TestConvertPipes: standard input may hold any format but a folder, and standard output is written as --to says.
func TestConvertPipes(t *testing.T) {
	want := clitest.Content(t, clitest.Basic)
	for _, format := range []string{"tf", "tf.gz", "tf.zst", "txt", "txt.gz"} {
		got := clitest.Run(t, "convert", clitest.Basic, "-", "--to", format)
		if got.Status != console.StatusDone || got.Stderr != "" {
			t.Errorf("%s: exit status %d, %s", format, got.Status, got.Stderr)
		}
		back := clitest.RunWith(t, clitest.Feed(t, []byte(got.Stdout)), "convert", "--to=tf", "-", "-")
		if back.Status != console.StatusDone || back.Stdout != want {
			t.Errorf("%s back: exit status %d, %d bytes, %s", format, back.Status, len(back.Stdout), back.Stderr)
		}
	}
}

// TestConvertTools: gzip and zstd find no fault with what is written.
func TestConvertTools(t *testing.T) {
	for suffix, tool := range map[string]string{".gz": "gzip", ".zst": "zstd"} {
		path := filepath.Join(t.TempDir(), "run.txt"+suffix)
		clitest.Run(t, "convert", clitest.Basic, path)
		if out, err := testtool.Command(t, tool, "-t", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
	}
}

// TestConvertRefuses what is misused, and leaves no file.
func TestConvertRefuses(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	here := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here("run.tf", "\x7fTRACE0\nR 8\n\n\x00\x00\x00\x00")
	here("other.tf", "\x7fTRACE0\nR 10\n\n\x00\x00\x00\x00")
	here("text", "Dear diary\n")
	here("iss.log", "1 clk 0 IT (1) 00001000 00000013 A svc : nop\n")
	here("bad.txt", "tracewell trace text 1\nnonsense\n")
	os.Mkdir("folder", 0o700)
	here("folder/diary", "Dear diary\n")
	os.Mkdir("empty", 0o700)
	if err := os.Link("run.tf", "link.tf"); err != nil {
		t.Fatal(err)
	}
	before := clitest.Listing(t, folder)
	for _, test := range []struct{ args, want string }{
		{"run.tf", "convert needs a file to read and one to write, and run.tf is the only one (see tracewell convert --help)"},
		{"run.tf -", "standard output has no suffix: say by --to what to write ("},
		{"run.tf run.tf", "run.tf is read, too: write to another file"},
		{"run.tf link.tf", "link.tf is read, too: write to another file"},
		{"run.tf other.tf run.tf --to txt", "run.tf is read, too: write to another file"},
		{"run.tf text --exec text", "text is read, too: write to another file"},
		{"run.tf x --to nonsense", `--to: "nonsense" is no format; there are tf, txt`},
		{"run.tf x --from nonsense", `--from: "nonsense" is no format; there are tf, txt`},
		{"run.tf x.xyz", "x.xyz: .xyz is the suffix of no format that can be written: say by --to which it is to be (tf, txt"},
		{"run.tf x.xyz.gz", "x.xyz.gz: .xyz is the suffix of no format"},
		{"iss.log x.xyz", "x.xyz: .xyz is the suffix of no format"},
		{"missing.tf x", "missing.tf: no such file or directory"},
		{"text x", `text: not a trace file: offset 0: found "Dear dia", expected "\x7fTRACE0\n"`},
		{"run.tf --from txt x", "run.tf: line 1, column 1: found "},
		{"bad.txt x", "bad.txt: line 2, column 1: found "},
		{"folder x", "open folder/metadata: no such file or directory"},
		{"run.tf folder", "folder is a folder that holds diary: a CTF trace wants one of its own"},
		{"run.tf missing/x", "write missing/x: open missing/x."},
		{"run.tf missing/x/", "mkdir missing/x/: no such file or directory"},
		{"run.tf - --to ctf", "standard output is no folder, which ctf is"},
		{"run.tf x.gz --to ctf", "x.gz: ctf is a folder, which cannot be compressed"},
		{"run.tf x --from ctf", "run.tf: ctf is a folder of files, and this is none"},
		{"run.tf x --frames 0:1 --tracepoint 3", "no tracepoint 3: there are no tracepoints"},
		{"run.tf x --frames 5:", "there is no frame 5: the file has no frames"},
		{"run.tf x --frames 5", `--frames: "5" is no range of frames: want A:B`},
		{"run.tf other.tf x", "other.tf has register blocks of 16 bytes, run.tf of 8"},
		{"run.tf x --by-time", "no order by time: there is no variable $trace_timestamp"},
		{"run.tf x.txt -r rip", "--registers is for JSON, CSV, Parquet and Perfetto, and txt has all of them"},
		{"run.tf x.csv --flow n", "--flow is for perfetto, and csv is written"},
		{"run.tf x.parquet --value n", "--value is for pprof and folded, and parquet is written"},
		{"run.tf x.pprof --value n", "write x.pprof: --value: there is no n"},
		{"run.tf x.pftrace --flow n+", "write x.pftrace: --flow: found the end, expected a value"},
		{"run.tf x --ctf typed", "--ctf is for ctf, and tf is written"},
		{"run.tf x/ --ctf other", "--ctf must be one of "},
		{"run.tf x --exec text", "text: reading an ELF file: "},
		{"run.tf /dev/full", "write /dev/full: no space left on device"},
		{"run.tf /dev/full --to txt.zst", "write /dev/full: no space left on device"},
	} {
		got := clitest.Run(t, append([]string{"convert"}, strings.Fields(test.args)...)...)
		if got.Status != console.StatusFailure || !strings.HasPrefix(got.Stderr, "tracewell: "+test.want) || got.Stdout != "" {
			t.Errorf("convert %s: exit status %d, %s", test.args, got.Status, got.Stderr)
		}
		if after := clitest.Listing(t, folder); !slices.Equal(after, before) {
			t.Fatalf("convert %s: left %v", test.args, after)
		}
	}
}

// TestConvertDamaged: of a file that is cut what is whole is converted, and where it stops is told. The text keeps even the
// rest, and gives the same bytes again.
func TestConvertDamaged(t *testing.T) {
	whole := []byte(clitest.Content(t, clitest.Basic))
	plain := whole[:100_000]
	folder := t.TempDir()
	out, text, again := filepath.Join(folder, "out.tf"), filepath.Join(folder, "cut.txt"), filepath.Join(folder, "cut2.txt")
	packed := []byte(clitest.Content(t, clitest.Pack(t, "run.gz", whole)))
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"cut.tf":    {plain, "premature end of the trace file: offset 99206: found 788 bytes"},
		"cut.tf.gz": {packed[:len(packed)*3/4], "gzip data is cut off behind "},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		got := clitest.Run(t, "convert", path, out)
		if got.Status != console.StatusFailure || !strings.HasPrefix(got.Stderr, "tracewell: "+path+": "+test.want) {
			t.Errorf("%s: exit status %d, %s", name, got.Status, got.Stderr)
		}
		if shown := clitest.Run(t, "show", out, "--json"); shown.Status != console.StatusDone || len(clitest.Objects(t, shown.Stdout)) == 0 {
			t.Errorf("%s: what is left is shown with exit status %d, %s", name, shown.Status, shown.Stderr)
		}
	}
	if got := clitest.Run(t, "convert", filepath.Join(folder, "cut.tf"), text); got.Status != console.StatusFailure {
		t.Errorf("to text: exit status %d, %s", got.Status, got.Stderr)
	}
	clitest.Run(t, "convert", text, again)
	if clitest.Content(t, text) != clitest.Content(t, again) {
		t.Error("the text of the text is another")
	}
}

// TestConvertDamagedFrames: a frame that cannot be read is kept as it is, and told of where it is not just copied.
func TestConvertDamagedFrames(t *testing.T) {
	const fast = "../../../../../tfile/testdata/queue-fast.tf"
	folder := t.TempDir()
	out, cut := filepath.Join(folder, "out.tf"), filepath.Join(folder, "cut.tf")
	if got := clitest.Run(t, "convert", fast, out); got != (clitest.Outcome{}) || clitest.Content(t, out) != clitest.Content(t, fast) {
		t.Errorf("the copy: %+v", got)
	}
	got := clitest.Run(t, "convert", fast, cut, "--frames", "0:0")
	if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, "frame 0: damaged frame: ") {
		t.Errorf("the cut: exit status %d, %s", got.Status, got.Stderr)
	}
	if got := clitest.Run(t, "show", cut); strings.Count(got.Stdout, "\n") != 2 || !strings.Contains(got.Stdout, "(damaged)") {
		t.Errorf("the cut is shown as\n%s%s", got.Stdout, got.Stderr)
	}
}

// TestConvertCut: frames are cut by number and by tracepoint, the same as show prints of the whole file.
func TestConvertCut(t *testing.T) {
	out := filepath.Join(t.TempDir(), "cut.tf")
	got := clitest.Run(t, "convert", clitest.Basic, "--frames", "3:60", out, "--tracepoint", "3,2")
	if got != (clitest.Outcome{}) {
		t.Fatalf("%+v", got)
	}
	var want []string
	for line := range strings.Lines(clitest.Run(t, "show", clitest.Basic, "--json", "--frames", "3:60").Stdout) {
		_, frame, _ := strings.Cut(line, ",") // without its number
		if strings.HasPrefix(frame, `"tracepoint":2,`) || strings.HasPrefix(frame, `"tracepoint":3,`) {
			want = append(want, frame)
		}
	}
	var frames []string
	for line := range strings.Lines(clitest.Run(t, "show", out, "--json").Stdout) {
		_, frame, _ := strings.Cut(line, ",")
		frames = append(frames, frame)
	}
	if len(want) == 0 || !slices.Equal(frames, want) {
		t.Errorf("got %d frames, want %d", len(frames), len(want))
	}
	described := clitest.Run(t, "info", out).Stdout
	for _, line := range []string{"frames           23 of 85 made\n", "\nTracepoint 2 at", "\nTracepoint 3 at"} {
		if !strings.Contains(described, line) {
			t.Errorf("info lacks %q:\n%s", line, described)
		}
	}
	if strings.Contains(described, "\nTracepoint 4 at") {
		t.Errorf("info still has tracepoint 4:\n%s", described)
	}
}

// TestConvertJoined: several files in one are merged, and one that is damaged among them is told of.
func TestConvertJoined(t *testing.T) {
	whole := clitest.Content(t, clitest.Basic)
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in"), filepath.Join(folder, "out.tf")
	for name, test := range map[string]struct {
		content string
		frames  string
		status  int
	}{
		"whole":   {whole + whole + whole, "frames           255\n", console.StatusDone},
		"damaged": {whole + whole + whole[:100_000], "frames           203 of 255 made\n", console.StatusFailure},
	} {
		if err := os.WriteFile(in, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := clitest.Run(t, "convert", in, out)
		if got.Status != test.status {
			t.Errorf("%s: exit status %d, %s", name, got.Status, got.Stderr)
		}
		if got := clitest.Run(t, "info", out); got.Status != console.StatusDone || !strings.Contains(got.Stdout, test.frames) {
			t.Errorf("%s: exit status %d, %s\n%s", name, got.Status, got.Stderr, got.Stdout)
		}
	}
}

// TestConvertPart takes one out of several files in one, the text of which keeps them apart.
func TestConvertPart(t *testing.T) {
	whole, fast := clitest.Content(t, clitest.Basic), clitest.Content(t, "../../../../../tfile/testdata/queue-pie.tf")
	folder := t.TempDir()
	in, text, out := filepath.Join(folder, "in"), filepath.Join(folder, "in.txt"), filepath.Join(folder, "out.tf")
	if err := os.WriteFile(in, []byte(whole+fast+whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := clitest.Run(t, "convert", in, text); got != (clitest.Outcome{}) {
		t.Errorf("to text: %+v", got)
	}
	for n, want := range []string{whole, fast, whole} {
		got := clitest.Run(t, "convert", text, out, "--part", strconv.Itoa(n+1))
		if got != (clitest.Outcome{}) || clitest.Content(t, out) != want {
			t.Errorf("part %d: %+v, %d bytes, want %d", n+1, got, len(clitest.Content(t, out)), len(want))
		}
	}
	got := clitest.Run(t, "convert", in, out, "--part", "4")
	if want := "tracewell: --part 4: " + in + " holds 3 trace files\n"; got.Stderr != want || got.Status != console.StatusFailure {
		t.Errorf("part 4: %+v", got)
	}
}

// TestConvertFrames: JSON has the objects of show; CSV a row for each frame. Both number the frames as the file does
// that was read.
func TestConvertFrames(t *testing.T) {
	shown := strings.Split(clitest.Run(t, "show", clitest.Basic, "--json", "--frames", "5:40", "-r", "rip,rsp").Stdout, "\n")
	got := clitest.Run(t, "convert", clitest.Basic, "-", "--to=json", "--frames", "5:40", "-r", "rip,rsp")
	lines := strings.Split(got.Stdout, "\n")
	if got.Status != console.StatusDone || got.Stderr != "" || len(lines) != len(shown) || len(lines) != 37 {
		t.Fatalf("exit status %d, %d lines, want %d, %s", got.Status, len(lines), len(shown), got.Stderr)
	}
	for i, line := range lines {
		if line != shown[i] {
			t.Errorf("line %d: got\n%s\nwant\n%s", i+1, line, shown[i])
		}
	}

	path := filepath.Join(t.TempDir(), "run.csv.gz")
	if got := clitest.Run(t, "convert", clitest.Basic, path, "--tracepoint=2", "-r", "rip", "--exec", clitest.BasicProgram); got != (clitest.Outcome{}) {
		t.Fatalf("%+v", got)
	}
	unpacked, err := testtool.Command(t, "gzip", "-dc", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(unpacked), "\n")
	if !strings.HasPrefix(rows[0], "frame,tracepoint,source,pc,symbol,rip,") ||
		!strings.HasPrefix(rows[4], "9,2,queue.c:23,0x4011b5,push+95,0x4011b5,") || len(rows) != 26 {
		t.Errorf("%d rows, among them\n%s\n%s", len(rows), rows[0], rows[4])
	}
}

// TestConvertWhere keeps the frames of which a condition holds, and says of how many that could not be found out.
func TestConvertWhere(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.tf")
	got := clitest.Run(t, "convert", clitest.Basic, out, "--where", "$hits > 20")
	if got.Status != console.StatusDone || !strings.HasPrefix(got.Stderr, "tracewell: --where: ") || !strings.HasSuffix(got.Stderr, " frames lack $hits\n") {
		t.Errorf("exit status %d, %s", got.Status, got.Stderr)
	}
	var values []int64
	for _, frame := range clitest.Objects(t, clitest.Run(t, "show", out, "--json").Stdout) {
		values = append(values, frame.Variables["hits"])
	}
	if !slices.Equal(values, []int64{21, 22, 23, 24}) {
		t.Errorf("frames of $hits %d are left", values)
	}
	if got := clitest.Run(t, "convert", clitest.Basic, out, "--where", "$hits >"); got.Status != console.StatusFailure || !strings.HasPrefix(got.Stderr, "tracewell: --where: ") {
		t.Errorf("a bad condition: exit status %d, %s", got.Status, got.Stderr)
	}
}

// TestConvertMerge: two files of one experiment in one, as the report of what was renumbered says.
func TestConvertMerge(t *testing.T) {
	folder := t.TempDir()
	second, out := filepath.Join(folder, "second.tf"), filepath.Join(folder, "out.txt")
	changed := strings.NewReplacer("tsv 2:0:0:68697473\n", "tsv 2:0:0:68697474\n").Replace(clitest.Content(t, clitest.Basic)) // $hits to $hitt
	if err := os.WriteFile(second, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, "convert", clitest.Basic, second, clitest.Basic, out)
	want := "tracewell: " + second + ": variable $hitt has number 4 in place of 2\n" +
		"tracewell: " + second + ": tracepoint 2 (queue.c:23) has number 5 in place of 2\n"
	if got.Status != console.StatusDone || got.Stderr != want {
		t.Errorf("exit status %d, %s", got.Status, got.Stderr)
	}
	frames := clitest.Objects(t, clitest.Run(t, "convert", out, "-", "--to", "json").Stdout)
	if len(frames) != 3*85 || frames[85].Tracepoint != 5 || frames[85].Variables["hitt"] != 1 || frames[170].Variables["hits"] != 1 {
		t.Errorf("%d frames, frame 85 is %+v", len(frames), frames[85])
	}
}
