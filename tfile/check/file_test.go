package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tracewell/tfile"
)

// here marks the place in a file that a test is about; it is taken out of the file.
const here = "<HERE>"

// registerSize is the size of the register blocks in the files of these tests. Fuzzing has shorter ones.
var registerSize = 2420

// ripOffset is where rip is in them.
const ripOffset = 128

// parts is a trace file in the parts of it that tests change.
type parts struct {
	size, status string
	description  []string // lines
	variables    []string
	tracepoints  []string
	other        []string
	frames       [][]byte
	end          string
	unended      bool // the empty line and all behind it are missing
}

// The lines of a file that is as it should be.
const (
	goodStatus   = "status 0;tstop::0;tframes:2;tcreated:2;tfree:4f9410;tsize:500000"
	goodVariable = "tsv 5:0:0:6869"
)

var goodTracepoint = []string{
	"tp T2:401131:E:0:0", "tp A2:401131:R01ff", "tp A2:401131:M-1,404020,4", "tp A2:401131:X00000004,2e000527",
	"tp Z2:401131:at:0:9:2a3078343031313331", "tp Z2:401131:cmd:0:e:636f6c6c65637420247265677320",
}

// good is a file that is as it should be, with two frames.
func good(t testing.TB) parts {
	t.Helper()
	return parts{
		size: fmt.Sprintf("R %x", registerSize), status: goodStatus, description: recordedDescription(t),
		variables: []string{goodVariable}, tracepoints: slices.Clone(goodTracepoint),
		frames: [][]byte{goodFrame(), goodFrame()}, end: "\x00\x00\x00\x00",
	}
}

// recordedDescription is the tdesc lines of a file that GDB has written.
func recordedDescription(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("../testdata/queue-basic.tf")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(data[:bytes.Index(data, []byte("\n\n"))+1])) {
		if strings.HasPrefix(line, "tdesc ") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func goodFrame() []byte {
	return frame(2, registers(0x401131), memory(0x404020, "\x01\x02\x03\x04"), variableOf(5, 42))
}

// frame makes a frame of blocks. What is ahead of its length is not counted in it.
func frame(number uint16, blocks ...string) []byte {
	data := strings.Join(blocks, "")
	b := binary.LittleEndian.AppendUint16(nil, number)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(strings.ReplaceAll(data, here, ""))))
	return append(b, data...)
}

func registers(pc uint64) string {
	b := make([]byte, registerSize)
	binary.LittleEndian.PutUint64(b, 0x1122334455667788)
	binary.LittleEndian.PutUint64(b[ripOffset:], pc)
	return "R" + string(b)
}

func memory(addr uint64, bytes string) string { return memoryOf(addr, len(bytes)) + bytes }

// memoryOf is the beginning of an M block that says it has n bytes.
func memoryOf(addr uint64, n int) string {
	b := binary.LittleEndian.AppendUint64([]byte("M"), addr)
	return string(binary.LittleEndian.AppendUint16(b, uint16(n)))
}

func variableOf(number int32, v int64) string {
	b := binary.LittleEndian.AppendUint32([]byte("V"), uint32(number))
	return string(binary.LittleEndian.AppendUint64(b, uint64(v)))
}

// bytes puts the file together, and says where its mark was, -1 if it has none.
func (p parts) bytes() (data []byte, mark int64) {
	lines := []string{p.size}
	lines = append(lines, p.description...)
	lines = append(lines, p.status)
	lines = slices.Concat(lines, p.variables, p.tracepoints, p.other)
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	all := "\x7fTRACE0\n" + strings.Join(append(lines, "", ""), "\n")
	all += string(slices.Concat(p.frames...)) + p.end
	if p.unended {
		all = "\x7fTRACE0\n" + strings.Join(append(lines, here), "\n")
	}
	mark = int64(strings.Index(all, here))
	return []byte(strings.ReplaceAll(all, here, "")), mark
}

func open(data []byte) (*tfile.File, error) {
	return Open(func(opts ...tfile.Option) (*tfile.File, error) { return tfile.OpenBytes(data, opts...) })
}

// opened checks a file as the command does.
func opened(t testing.TB, data []byte, options Options) *Report {
	t.Helper()
	file, err := open(data)
	if file == nil {
		t.Fatalf("cannot be opened: %v", err)
	}
	options.Source, options.Size = bytes.NewReader(data), int64(len(data))
	report, err := File(file, err, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
