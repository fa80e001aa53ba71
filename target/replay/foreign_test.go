package replay_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// The program of gen-trace, a MIPS of 32 bits whose code has addresses with the highest bit set.
const (
	mix     = 0x800080bc
	behind  = 0x800080c8 // in mix
	collect = 0x80100000
)

// TestForeignProgram has a GDB without a program get it from the server, byte order included, and find code, symbols and memory
// at addresses that it takes to be negative; whether the file has them so, as GDB writes them, or not.
func TestForeignProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "prog")
	if out, err := exec.Command(gdbtest.Binary(t), "gen-trace", "-n", "10", "--elf", program, "-o", os.DevNull).CombinedOutput(); err != nil {
		t.Fatalf("gen-trace: %v: %s", err, out)
	}
	for name, above := range map[string]arch.Addr{"plain": 0, "signed": 0xffffffff << 32} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serveReplay(t, "--exec", program, "--listen", mipsFile(t, above))
			output := gdbtest.RunMultiarch(t, fmt.Sprintf(`
				target remote %s
				-- outside --
				info symbol $pc
				-- first --
				tfind
				info symbol $pc
				x/i $pc
				x/s %#x
				tdump
				-- second --
				tfind tracepoint 1
				info symbol $pc
				-- searches --
				tfind none
				tfind pc %#x
				tfind pc %#x
				tfind range mix, mix + 4
				tfind outside mix, mix + 4
				-- counts --
				tstatus
				info tracepoints
				-- end --
			`, server.Address, uint32(collect), uint32(behind), uint32(mix)))
			for section, texts := range map[string][]string{
				"outside":  {"start in section .text"},
				"first":    {"mix in section .text", "=> 0x800080bc <mix>:\t", `0x80100000:	"high"`, `= "high"`},
				"second":   {"mix + 12 in section .text"},
				"searches": {"Found trace frame 1, tracepoint 1", "Found trace frame 2, tracepoint 1", "No trace frame found"},
				"counts":   {"hit 3 times", "in mix at"},
			} {
				for _, text := range texts {
					if got := output.Section(t, section); !strings.Contains(got, text) {
						t.Errorf("%s: GDB does not print %q:\n%s", section, text, got)
					}
				}
			}
		})
	}
}

// mipsFile writes three frames of mix: where it begins, in it, and where it begins.
func mipsFile(t *testing.T, above arch.Addr) string {
	t.Helper()
	shapes := machine.Shapes()
	description := shapes[slices.IndexFunc(shapes, func(s machine.Shape) bool { return s.Name == "mips" })].Target()
	layout, err := description.Layout()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := tfile.NewWriter(&out, tfile.Header{
		Order: binary.BigEndian, RegisterSize: layout.Size, Description: string(description.XML()),
		Status: &trace.Status{Reason: trace.ReasonStop, Frames: 3, Created: 3},
		Tracepoints: []trace.Tracepoint{{Number: 1, Addr: above | mix, Enabled: true, Step: 1, Hits: 3, Usage: 4,
			Source: trace.Source{At: "*mix", Commands: []string{"collect $regs", "collect *(char (*)[5]) 0x80100000"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := tfile.Builder{Order: binary.BigEndian}
	for _, pc := range []uint32{mix, behind, mix} {
		b.Begin(nil, 1)
		block := b.Registers(layout.Size)
		clear(block)
		binary.BigEndian.PutUint32(block[layout.ProgramCounter().Offset:], pc)
		b.AppendMemory(above|collect, []byte("high\x00"))
		if err := w.WriteFrame(b.Finish()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mips.tf")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
