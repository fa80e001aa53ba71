package check

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tfile"
)

// TestOtherMachines has what depends on the architecture.
func TestOtherMachines(t *testing.T) {
	memoryOnly := frame(2, memory(0x404020, "\x01\x02\x03\x04"))
	tests := []struct {
		name, architecture, register string
		frame                        []byte
		rule                         string
		severity                     tfile.Severity
		left                         int // frames of the fixed file
	}{
		{"registers on MIPS", "mips", "", memoryOnly, "registers-needed", tfile.Crashes, 1},
		{"registers on ARM", "arm", "", memoryOnly, "registers-wanted", tfile.Misreads, 2},
		{"none on x86", "i386", "", memoryOnly, "", tfile.Odd, 2},
		{"wide address", "i386", "eip", frame(2, memory(0x100404020, "\x01")), "memory-address", tfile.Misreads, 2},
		{"narrow address", "i386", "eip", frame(2, memory(0xfffffffc, "\x01\x02\x03\x04")), "", tfile.Odd, 2},
		{"extended address", "mips", "pc", frame(2, "R\x00\x00\x00\x00", memory(0xffffffff80001000, "\x01")), "", tfile.Odd, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := good(t)
			file.size = "R 4"
			file.description = []string{`tdesc <target><architecture>` + test.architecture + `</architecture><feature name="f">`,
				`tdesc <reg name="` + test.register + `" bitsize="32" type="code_ptr"/></feature></target>`}
			file.tracepoint("tp A2:401131:R01ff", "tp A2:401131:R01")
			file.frames = [][]byte{test.frame, frame(2, "R\x00\x00\x00\x00")}
			data, _ := file.bytes()
			var found *Finding
			report := opened(t, data, Options{})
			for i, f := range report.Findings {
				if !strings.HasPrefix(f.Rule.Name, "description-") {
					found = &report.Findings[i]
				}
			}
			switch {
			case test.rule == "" && found != nil:
				t.Errorf("finding %v", found)
			case test.rule != "" && (found == nil || found.Rule.Name != test.rule || found.Rule.Severity != test.severity || found.Frame != 0):
				t.Errorf("finding %v, want %s, %v, in frame 0", found, test.rule, test.severity)
			}
			outcome, _ := fixed(t, data)
			f, err := tfile.OpenBytes(outcome)
			if err != nil || f.NumFrames() != test.left || f.Header().Status.Frames != int64(test.left) {
				t.Errorf("%d frames, %v, want %d", f.NumFrames(), err, test.left)
			}
		})
	}
}

// TestCountsAreFolded has one finding for all frames of a tracepoint that have the same fault.
func TestCountsAreFolded(t *testing.T) {
	file := good(t)
	file.frames = nil
	for range 100 {
		file.frames = append(file.frames, frame(2, registers(1), "Q"), frame(7, registers(1)))
	}
	file.status = strings.ReplaceAll(goodStatus, ":2", ":c8")
	data, _ := file.bytes()
	report := opened(t, data, Options{})
	if len(report.Findings) != 2 || report.Findings[0].Count != 100 || report.Findings[1].Count != 100 {
		t.Errorf("findings %v", report.Findings)
	}
}

// TestProgress is told of the frames that are checked and written.
func TestProgress(t *testing.T) {
	f := clean(t, 5000)
	var told []int64
	report, err := File(f, nil, Options{Progress: func(done int64) { told = append(told, done) }})
	if err != nil || len(told) != 5 || told[4] != 4096 {
		t.Errorf("%v, %v", told, err)
	}
	told = nil
	if _, err := report.Fix(&bytes.Buffer{}, func(done int64) { told = append(told, done) }); err != nil || len(told) != 5 {
		t.Errorf("%v, %v", told, err)
	}
}

// TestBigEndian has a file of a big-endian machine, and lets GDB misread it.
func TestBigEndian(t *testing.T) {
	file := good(t)
	file.size = "R 4"
	file.description = []string{`tdesc <target><architecture>powerpc:common</architecture></target>`}
	one := []byte("\x00\x02\x00\x00\x00\x05RABCD")
	file.frames = [][]byte{one, one}
	data, _ := file.bytes()
	report := opened(t, data, Options{})
	if !slices.ContainsFunc(report.Findings, func(f Finding) bool {
		return f.Rule == ruleBigEndian && f.Offset == int64(len(data)-4-2*len(one))
	}) {
		t.Errorf("findings %v", report.Findings)
	}
	path := save(t, t.TempDir(), "big.tf", data)
	look := "? target tfile " + path + "\n? tfind 0\n"
	out := gdbtest.RunMultiarch(t, "-- open --\n"+look+"-- told --\nset endian big\n"+look)
	for section, want := range map[string]string{"open": "frame 0, tracepoint 512", "told": "frame 0, tracepoint 1"} {
		if said := out.Section(t, section); !strings.Contains(said, want) {
			t.Errorf("GDB did not say %q:\n%s", want, said)
		}
	}
}

// TestGDBWantsRegisters lets GDB select frames without registers on other machines.
func TestGDBWantsRegisters(t *testing.T) {
	for architecture, want := range map[string]string{
		"arm": "is not available", "riscv:rv64": "#0  0x", "aarch64": "#0  0x", "powerpc:common64": "#0  0x",
		"s390:64-bit": "is not available", "sparc:v9": "is not available", "m68k": "is not available", "mips": "internal-error",
	} {
		file := parts{size: "R 4", status: goodStatus, tracepoints: []string{goodTracepoint[0], goodTracepoint[4]}, end: "\x00\x00\x00\x00"}
		file.description = []string{"tdesc <target><architecture>" + architecture + "</architecture></target>"}
		file.frames = [][]byte{[]byte("\x02\x00\x00\x00\x00\x00"), []byte("\x02\x00\x00\x00\x00\x00")}
		data, _ := file.bytes()
		said := askOf(t, "gdb-multiarch", "", [][]byte{data})[0]
		if !strings.Contains(said, want) {
			t.Errorf("%s: GDB did not say %q:\n%s", architecture, want, said)
		}
		rule := registersNeeded[arch.ByArchitecture(architecture).Unwinding]
		if (rule != nil) != (want != "#0  0x") || rule != nil && (rule.Severity == tfile.Crashes) != (want == "internal-error") {
			t.Errorf("%s: rule %v", architecture, rule)
		}
	}
}
