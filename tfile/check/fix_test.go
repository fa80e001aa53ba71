package check

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
)

// fixed fixes a file.
func fixed(t testing.TB, data []byte) (outcome []byte, changes []Change) {
	t.Helper()
	var out bytes.Buffer
	changes, err := opened(t, data, Options{}).Fix(&out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), changes
}

// unmended are the rules that are still broken when a file was fixed: what would have to be invented.
var unmended = map[string]string{
	"no condition":                    "condition-without-source",
	"no commands":                     "actions-without-source",
	"steps without source":            "stepping-without-source pc-unknown",
	"bad condition":                   "bytecode",
	"underflow":                       "bytecode",
	"undefined variable in an action": "expression-variable",
	"undefined register in an action": "expression-register",
	"undefined register in a mask":    "expression-register",
	"loaded elsewhere":                "load-address",
	"no description":                  "description-missing",
	"size 0":                          "description-missing",
	"include":                         "description-include",
	"unclosed":                        "description-xml-syntax",
	"short registers":                 "registers-short",
	"long registers":                  "registers-long",
	"registers past the end":          "empty-frame",
	"frame undefined":                 "frame-undefined",
	"negative number":                 "frame-undefined",
	"no R":                            "empty-frame",
	"empty frame":                     "empty-frame",
	"pc of several locations":         "pc-unknown",
	"memory twice":                    "memory-overlap",
	"values":                          "variable-values",
	"value beyond":                    "variable-range",
	"variable zero":                   "variable-range",
	"uncollected memory":              "uncollected",
	"memory too long":                 "memory-long",
	"running":                         "status-running",
	"status of a run with T":          "status-running",
	"stopped by another":              "status-tracepoint",
}

// TestFixedFiles checks each file that breaks a rule once it was fixed, tells that something was changed, and has GDB open it.
func TestFixedFiles(t *testing.T) {
	var names []string
	var outcomes [][]byte
	for _, b := range breaches {
		file := good(t)
		b.make(&file)
		data, _ := file.bytes()
		outcome, changes := fixed(t, data)
		names, outcomes = append(names, b.name), append(outcomes, outcome)
		left := make(map[string]bool)
		for _, f := range opened(t, outcome, Options{}).Findings {
			left[f.Rule.Name] = true
		}
		want := make(map[string]bool)
		for _, name := range strings.Fields(unmended[b.name]) {
			want[name] = true
		}
		if diff := cmp.Diff(want, left); diff != "" {
			t.Errorf("%s: rules that are still broken (-want +got):\n%s", b.name, diff)
		}
		if len(changes) == 0 && len(want) == 0 && !bytes.Equal(data, outcome) {
			t.Errorf("%s: no word of what was changed", b.name)
		}
	}
	for i, said := range ask(t, outcomes) {
		for line := range strings.Lines(said) {
			complains := strings.HasPrefix(line, "warning") || strings.Contains(line, "internal-error") || strings.Contains(line, "block type")
			if complains && !strings.Contains(line, "No traceframes") && unmended[names[i]] == "" {
				t.Errorf("%s: of the fixed file GDB said %s", names[i], said)
				break
			}
		}
		if !strings.Contains(said, "Using a trace file") {
			t.Errorf("%s: GDB did not open the fixed file: %s", names[i], said)
		}
	}
}

// TestRecordedFilesStayAsTheyAre fixes what GDB has written well.
func TestRecordedFilesStayAsTheyAre(t *testing.T) {
	for _, name := range []string{"queue-basic.tf", "queue-pie.tf"} {
		data := recorded(t, name)
		if outcome, changes := fixed(t, data); !bytes.Equal(outcome, data) || len(changes) > 0 {
			t.Errorf("%s has changed: %v", name, changes)
		}
	}
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAgentsRegisters saves the frame of a fast tracepoint, the registers of which are more than the R line says.
func TestAgentsRegisters(t *testing.T) {
	data := recorded(t, "queue-fast.tf")
	outcome, changes := fixed(t, data)
	if report := opened(t, outcome, Options{}); report.Verdict != WellFormed {
		t.Errorf("findings in the fixed file: %v", report.Findings)
	}
	file, err := tfile.OpenBytes(outcome)
	if err != nil || file.NumFrames() != 1 {
		t.Fatalf("%d frames, %v", file.NumFrames(), err)
	}
	f, err := file.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	collected := data[bytes.Index(data, []byte("\n\n"))+2:]
	if !bytes.Equal(f.Registers(), collected[7:7+registerSize]) {
		t.Error("other registers than the file has")
	}
	if rip := f.Registers()[ripOffset : ripOffset+8]; !bytes.Equal(rip, []byte{0x66, 0x11, 0x40, 0, 0, 0, 0, 0}) {
		t.Errorf("rip % x", rip)
	}
	q := make([]byte, 64)
	if n := f.ReadMemory(0x404080, q); n != 32 || !bytes.Equal(q, make([]byte, 64)) {
		t.Errorf("q: %d bytes % x", n, q)
	}
	var told []string
	for _, c := range changes {
		told = append(told, fmt.Sprintf("%d %s", c.Offset, c.Text))
	}
	if len(told) != 2 || !strings.Contains(told[1], "register block of 2500 bytes cut to the 2420") {
		t.Errorf("told %q", told)
	}
	said := ask(t, [][]byte{outcome})[0]
	if !strings.Contains(said, "= (void (*)()) 0x401166") || strings.Contains(said, "warning") {
		t.Errorf("GDB said:\n%s", said)
	}
}

// TestTwoSizes has frames of gdbserver and of its agent in one file.
func TestTwoSizes(t *testing.T) {
	file := good(t)
	file.add("tp T3:401140:E:0:0", "tp A3:401140:R01ff", "tp A3:401140:M-1,404020,4", "tp Z3:401140:at:0:9:2a3078343031313430",
		"tp Z3:401140:cmd:0:e:636f6c6c65637420247265677320")
	file.frames[1] = frame(3, registers(0x401140), strings.Repeat("\x00", 80), memory(0x404020, "abcd"))
	data, _ := file.bytes()
	outcome, _ := fixed(t, data)
	f, err := tfile.OpenBytes(outcome)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"\x01\x02\x03\x04", "abcd"} {
		got := make([]byte, 4)
		if frame, err := f.Frame(i); err != nil || frame.Check() != nil || frame.ReadMemory(0x404020, got) != 4 || string(got) != want {
			t.Errorf("frame %d: %q, %v, want %q", i, got, err, want)
		}
	}
}

// TestLongDescription breaks the lines of a description without changing what it means.
func TestLongDescription(t *testing.T) {
	file := good(t)
	for i := range file.description {
		file.description[i] = strings.TrimPrefix(file.description[i], "tdesc ")
	}
	whole := strings.Join(file.description, "")
	file.description = []string{"tdesc " + whole}
	data, _ := file.bytes()
	outcome, _ := fixed(t, data)
	report := opened(t, outcome, Options{})
	if report.Verdict != WellFormed {
		t.Fatalf("findings: %v", report.Findings)
	}
	said := ask(t, [][]byte{outcome})[0]
	if !strings.Contains(said, "= (void (*)()) 0x401131") || strings.Contains(said, "warning") {
		t.Errorf("GDB said:\n%s", said)
	}
}

// TestCutFrame saves the whole blocks of a frame that the end of the file cuts off.
func TestCutFrame(t *testing.T) {
	file := good(t)
	file.frames[1], file.end = file.frames[1][:len(goodFrame())-5], ""
	data, _ := file.bytes()
	outcome, changes := fixed(t, data)
	f, err := tfile.OpenBytes(outcome)
	if err != nil || f.NumFrames() != 2 {
		t.Fatalf("%d frames, %v", f.NumFrames(), err)
	}
	frame, err := f.Frame(1)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	_, ok := frame.Variable(5)
	if ok || len(frame.Registers()) != registerSize || frame.ReadMemory(0x404020, got) != 4 || frame.Check() != nil {
		t.Errorf("%d bytes of registers, memory % x", len(frame.Registers()), got)
	}
	if !strings.Contains(fmt.Sprint(changes), "kept up to its last whole block, 2436 bytes") {
		t.Errorf("told %v", changes)
	}
}

// TestDamagedRecordings damages the frames of a file that GDB has written, here and there, and has GDB look at what is saved.
func TestDamagedRecordings(t *testing.T) {
	whole := recorded(t, "queue-basic.tf")
	frames := bytes.Index(whole, []byte("\n\n")) + 2
	random := rand.New(rand.NewPCG(1, 2))
	var outcomes [][]byte
	for range 12 {
		data := bytes.Clone(whole)
		hits := 1 + random.IntN(4)
		for range hits {
			at := frames + random.IntN(len(data)-frames-100)
			for i := range 1 + random.IntN(100) {
				data[at+i] = byte(random.Uint32())
			}
		}
		if random.IntN(2) == 0 {
			data = data[:frames+random.IntN(len(data)-frames)]
		}
		outcome, _ := fixed(t, data)
		outcomes = append(outcomes, outcome)
		const longest = 2600 // bytes of a frame, of which a stretch of damage touches two at most
		if lost := len(data) - len(outcome); lost > (2*hits+1)*longest {
			t.Errorf("of %d bytes %d are lost by %d stretches of damage", len(data), lost, hits)
		}
	}
	for i, said := range ask(t, outcomes) {
		for _, bad := range []string{"internal-error", "block type", "Premature", "No traceframes"} {
			if strings.Contains(said, bad) {
				t.Errorf("file %d: GDB said:\n%s", i, said)
			}
		}
	}
}

// FuzzFix fixes whatever opens. The outcome opens, and nothing in it makes GDB refuse it or crash.
func FuzzFix(f *testing.F) {
	defer func(size int) { registerSize = size }(registerSize)
	registerSize = ripOffset + 8
	for _, b := range breaches {
		file := good(f)
		file.description = []string{"tdesc <target><architecture>i386:x86-64</architecture></target>"}
		if b.make(&file); len(file.frames) > 0 && len(file.frames[0]) > 1000 {
			continue // small files are changed faster
		}
		data, _ := file.bytes()
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := open(data)
		if file == nil {
			return
		}
		report, err := File(file, err, Options{Source: bytes.NewReader(data), Size: int64(len(data))})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := report.Fix(&out, nil); err != nil {
			t.Fatalf("not fixed: %v", err)
		}
		if file, err = tfile.OpenBytes(out.Bytes()); err != nil {
			t.Fatalf("the fixed file: %v", err)
		}
		if report, err = File(file, err, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			if f.Rule.Severity >= tfile.Refuses {
				t.Errorf("in the fixed file: %v", f)
			}
		}
	})
}
