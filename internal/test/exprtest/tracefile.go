package exprtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/gdbtest"
)

// TraceFile makes a trace file by hand, all frames of one tracepoint.
type TraceFile struct {
	pc     arch.Addr
	frames bytes.Buffer
	count  int
}

// NewTraceFile returns one of a tracepoint at an address.
func NewTraceFile(pc arch.Addr) *TraceFile { return &TraceFile{pc: pc} }

// block is the size of the general registers and rip, which the register block ends with.
const block = 17 * 8

// Add appends what Process.Collect returned. Registers that were not collected are 0, but for the pc.
func (f *TraceFile) Add(frame *Process) {
	f.count++
	little := binary.LittleEndian
	data := []byte{'R'}
	for r := range arch.Reg(block / 8) {
		value := frame.Registers[r]
		if r == 16 {
			value = uint64(f.pc)
		}
		data = little.AppendUint64(data, value)
	}
	for _, s := range frame.only {
		b, err := frame.Memory(s.Addr, int(s.Size))
		if err != nil {
			continue
		}
		data = little.AppendUint16(little.AppendUint64(append(data, 'M'), uint64(s.Addr)), uint16(s.Size))
		data = append(data, b...)
	}
	f.frames.Write(little.AppendUint32(little.AppendUint16(nil, 1), uint32(len(data))))
	f.frames.Write(data)
}

// found is what tfind prints.
var found = regexp.MustCompile(`(?s)^Found trace frame.*?\n(#.*\n\d+\s.*?\n)?`)

// Print has GDB print an expression of each frame.
func (f *TraceFile) Print(t testing.TB, program string, expressions []string) []string {
	t.Helper()
	var file bytes.Buffer
	fmt.Fprintf(&file, "\x7fTRACE0\nR %x\ntp T1:%x:E:0:0\n", block, uint64(f.pc))
	fmt.Fprintf(&file, "status 0;tstop::0;tframes:%x;tcreated:%x\n\n%s\x00\x00\x00\x00", f.count, f.count, f.frames.Bytes())
	path := filepath.Join(t.TempDir(), "frames.tf")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("target tfile %s\n", path)
	for i, text := range expressions {
		script += fmt.Sprintf("-- frame %d --\ntfind %d\n? output %s\n", i, i, text)
	}
	output := gdbtest.Run(t, program, script)
	var values []string
	for i := range expressions {
		values = append(values, found.ReplaceAllString(output.Section(t, fmt.Sprintf("frame %d", i)), ""))
	}
	return values
}
