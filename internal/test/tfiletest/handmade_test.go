package tfiletest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/tfile"
)

// Lines and other pieces of the files. Without a description GDB takes the registers to be those of an i386.
const (
	magic      = "\x7fTRACE0\n"
	size16     = "R 10\n"
	stopped    = "status 0;tstop::0;tframes:2;tcreated:2;tfree:0;tsize:1000\n"
	tracepoint = "tp T1:1000:E:0:0\n" + "tp Z1:1000:at:0:7:2a307831303030\n"
	standard   = size16 + stopped + tracepoint
	head       = magic + standard + "\n"
	end        = "\x00\x00\x00\x00"
)

// file is a file with an end, of definition lines and frames.
func file(definitions, frames string) string { return magic + definitions + "\n" + frames + end }

func frame(tracepoint int, blocks ...string) string {
	data := strings.Join(blocks, "")
	b := binary.LittleEndian.AppendUint16(nil, uint16(tracepoint))
	return string(binary.LittleEndian.AppendUint32(b, uint32(len(data)))) + data
}

func registers(values ...uint32) string {
	b := []byte{'R'}
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return string(b)
}

func memory(addr uint64, text string) string {
	b := binary.LittleEndian.AppendUint64([]byte{'M'}, addr)
	return string(binary.LittleEndian.AppendUint16(b, uint16(len(text)))) + text
}

func variable(number uint32, value uint64) string {
	return string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte{'V'}, number), value))
}

// extreme is a file that no session writes.
type extreme struct {
	name string
	data string
	look string   // GDB commands, one a line, once the file is open
	gdb  []string // some of what it prints
	ours string   // all that tfile reads, as told by summary
}

// script has GDB look at a file. Commands may fail. They are run by one command, since none can follow one that has selected a
// frame that cannot be read; so this ends with none selected.
func (e *extreme) script(path string) string {
	var commands []string
	for command := range strings.SplitSeq("target tfile "+path+"\n"+e.look+"\ntfind none", "\n") {
		commands = append(commands, strconv.QuoteToASCII(command))
	}
	return "python\nfor command in [" + strings.Join(commands, ", ") + `]:
  try:
    gdb.execute(command)
  except gdb.error as e:
    print("error: %s" % e)
end
`
}

// TestHandmade holds what GDB 13.1 prints of each file beside what tfile makes of it.
func TestHandmade(t *testing.T) {
	for _, e := range extremes {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			f, err := tfile.OpenBytes([]byte(e.data))
			if diff := gocmp.Diff(e.ours, summary(f, err)); diff != "" {
				t.Errorf("tfile (-want +got):\n%s", diff)
			}
			printed := gdbtest.Run(t, "", e.script(save(t, []byte(e.data)))).All
			for _, want := range e.gdb {
				if !strings.Contains(printed, want) {
					t.Errorf("GDB does not print %q:\n%s", want, printed)
				}
			}
		})
	}
}

// summary tells in a line each: the findings and the error of opening a file, tracepoints of which there is something to
// tell, and frames.
func summary(f *tfile.File, err error) string {
	var lines []string
	if f != nil {
		for _, finding := range f.Findings() {
			lines = append(lines, finding.Rule.Name)
		}
	}
	if err != nil {
		lines = append(lines, err.Error())
	}
	if f == nil {
		return strings.Join(lines, "\n")
	}
	for _, t := range f.Header().Tracepoints {
		if t.Addr != site || t.Pass+t.Hits+t.Usage > 0 {
			lines = append(lines, fmt.Sprintf("%v: pass count %d, %d hits, %d bytes", t.Addr, t.Pass, t.Hits, t.Usage))
		}
	}
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		if err != nil {
			return err.Error()
		}
		c := toldByFrame(frame, f.Header(), nil, nil)
		line := fmt.Sprint("tracepoint ", c.Tracepoint)
		if r := frame.Registers(); r != nil {
			line += fmt.Sprintf("; %x", r)
		}
		for _, text := range append(c.Memory, c.Variables...) {
			line += "; " + text
		}
		if frame.Check() != nil {
			line += "; damaged"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
