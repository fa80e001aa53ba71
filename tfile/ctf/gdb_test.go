package ctf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
	"tracewell/tfile"
	"tracewell/trace"
)

// described writes the target description of a trace, which GDB has to be told of, into a file.
func described(t testing.TB, h tfile.Header) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "target.xml")
	if err := os.WriteFile(name, []byte(h.Description), 0o666); err != nil {
		t.Fatal(err)
	}
	return "set tdesc filename " + name + "\n"
}

// TestGDBShowsTheSame has GDB show every frame of a trace file and of the same trace in CTF.
func TestGDBShowsTheSame(t *testing.T) {
	file := openTraceFile(t, "queue-basic.tf")
	script := "-- definitions --\ninfo tvariables\n"
	for i := range file.NumFrames() {
		script += fmt.Sprintf(`
			-- frame %d --
			tfind %[1]d
			info registers
			print $hits
			? x/32xb 0x404080
			? x/4xb 0x404030
			? x/8xb $rsp
			? x/8xb $rbp-8
		`, i)
	}
	name, err := filepath.Abs("../testdata/queue-basic.tf")
	if err != nil {
		t.Fatal(err)
	}
	want := gdbtest.Run(t, "", "target tfile "+name+"\n"+script)
	got := gdbtest.Run(t, "", described(t, file.Header())+"target ctf "+saved(t, file)+"\n"+script)
	if diff := cmp.Diff(want.Section(t, "definitions"), got.Section(t, "definitions")); diff != "" {
		t.Errorf("definitions: -tfile +ctf:\n%s", diff)
	}
	for i := range file.NumFrames() {
		frame := fmt.Sprintf("frame %d", i)
		if diff := cmp.Diff(wellRead(want.Section(t, frame)), wellRead(got.Section(t, frame))); diff != "" {
			t.Fatalf("%s: -tfile +ctf:\n%s", frame, diff)
		}
	}
}

// misread are the registers that GDB 13.1 takes from wrong places when it reads CTF, its own as well: those that follow
// the vector registers on a machine with AVX-512.
var misread = regexp.MustCompile(`(?m)^k[0-7] .*\n?`)

func wellRead(text string) string { return misread.ReplaceAllString(text, "") }

// TestGDBBigEndian has the GDB for every processor read a trace in the other byte order, with what GDB has no events for.
func TestGDBBigEndian(t *testing.T) {
	order := orders["be"]
	c := &made{header: tfile.Header{
		Order:        order,
		RegisterSize: 412,
		Status:       &trace.Status{Reason: trace.ReasonStop, Frames: 3, Created: 3, Free: 4, Size: 9},
		Variables:    []trace.Variable{{Number: 2, Initial: -7, Name: "v"}},
		Tracepoints: []trace.Tracepoint{{Number: 5, Addr: 0x1000, Enabled: true, Pass: 9, Hits: 3,
			Source: trace.Source{At: "*0x1000", Commands: []string{"collect $regs"}}}},
	}}
	c.add(t, func(b *tfile.Builder) {
		r := b.Registers(412)
		clear(r)
		order.PutUint32(r[4:], 0xdeadbeef)
		copy(b.Memory(0x2000, 4), "\x01\x02\x03\x04")
		b.Variable(2, -9)
	})
	c.add(t, func(b *tfile.Builder) {
		b.AppendStatic([]byte("GDB has no event for this"))
		copy(b.Memory(0x2000, 4), "\x05\x06\x07\x08")
	})
	c.add(t, nil)
	out := gdbtest.RunMultiarch(t, `
		set architecture powerpc:common
		set endian big
		-- open --
		target ctf `+saved(t, c)+`
		-- definitions --
		info tvariables
		info tracepoints
		-- frames --
		tfind 0
		print $v
		print/x $r1
		x/xw 0x2000
		tfind 1
		x/xw 0x2000
		print $v
		tfind 2
		x/xw 0x2000
		? tfind
	`)
	if text := out.Section(t, "open"); strings.Contains(text, "warning") || strings.Contains(text, "rror") {
		t.Errorf("on opening: %s", text)
	}
	definitions := out.Section(t, "definitions")
	for _, want := range []string{"$v              -7", "0x00001000", "already hit 3 times", "pass count 9", "collect $regs"} {
		if !strings.Contains(definitions, want) {
			t.Errorf("no %q in\n%s", want, definitions)
		}
	}
	const want = `Found trace frame 0, tracepoint 1
$1 = -9
$2 = 0xdeadbeef
0x2000:	0x01020304
Found trace frame 1, tracepoint 1
0x2000:	0x05060708
$3 = void
Found trace frame 2, tracepoint 1
0x2000:	<unavailable>
No trace frame found`
	if diff := cmp.Diff(want, withoutPlaces(out.Section(t, "frames"))); diff != "" {
		t.Errorf("frames:\n%s", diff)
	}
}

// withoutPlaces takes out the lines in which GDB says where the frame is.
func withoutPlaces(text string) string {
	return regexp.MustCompile(`(?m)^(#0 |0x\w+ in ).*\n`).ReplaceAllString(text, "")
}

// runs are trace runs that end in several ways, by the commands that follow where the program has stopped in main.
var runs = map[string]string{
	"stopped by the user": `
		tvariable $count = -3
		trace push if item->number > 3
		actions
		teval $count = $count + 1
		collect $regs, $args, *item, $count, $trace_timestamp
		end
		trace pop
		actions
		while-stepping 2
		collect $regs, pending
		end
		end
		ftrace work
		actions
		collect $reg
		end
		set trace-stop-notes enough of it
		tstart
		break exit
		continue
		tstop`,
	"stopped by a pass count, circular": `
		trace work
		passcount 2
		actions
		collect $locals, pending
		end
		trace push
		disable $bpnum
		set circular-trace-buffer on
		set disconnected-tracing on
		tstart
		break exit
		continue`,
	"stopped by an error": `
		trace work
		actions
		collect 1/(factor-factor)
		end
		tstart
		break exit
		continue`,
	"full": `
		set trace-buffer-size 6000
		trace push
		actions
		collect $regs
		end
		tstart
		break exit
		continue`,
	"running":   "trace push\ntstart\nbreak exit\ncontinue",
	"never run": "trace push",
}

// TestAsGDBSaves records runs, has GDB save each as a trace file and in CTF, and converts one into the other.
func TestAsGDBSaves(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
	for name, commands := range runs {
		t.Run(name, func(t *testing.T) {
			server := gdbtest.Serve(t, program.Path, "9")
			dir := t.TempDir()
			gdbtest.Run(t, program.Path, "target remote "+server.Address+"\nbreak main\ncontinue\n"+
				strings.ReplaceAll(commands, "\t", "")+"\ntstatus\ntsave "+dir+"/run.tf\ntsave -ctf "+dir+"/run\nkill\n")
			file, err := tfile.OpenBytes(readFile(t, dir+"/run.tf"))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d frames, status %s", file.NumFrames(), file.Header().Status)
			metadata, stream := written(t, file)
			theirs, theirStream := readFile(t, dir+"/run/metadata"), readFile(t, dir+"/run/datastream")
			if !bytes.Equal(stream, theirStream) {
				t.Errorf("stream of %d bytes, GDB's is of %d", len(stream), len(theirStream))
			}
			if !bytes.HasPrefix(metadata, theirs) {
				t.Error("metadata begin otherwise than GDB's")
			}
			got := opened(t, theirs, theirStream)
			sameFrames(t, got, file)
			if diff := cmp.Diff(file.Header().Tracepoints, got.Header().Tracepoints); diff != "" {
				t.Errorf("tracepoints:\n%s", diff)
			}
		})
	}
}
