package bench

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tracewell/arch"
	"tracewell/tdesc/machine"
	"tracewell/tfile"
	"tracewell/trace"
)

// million is how many frames a recording has.
const million = 1_000_000

// Of the two tracepoints of a recording, one made all frames but the last. GDB keeps their numbers since they descend in the
// file, and has nothing else to tell apart in a search, which it can then do without going astray.
const (
	usual trace.Number = 1
	rare  trace.Number = 2
)

// addrOf is where a tracepoint is.
func addrOf(n trace.Number) arch.Addr { return 0x401000 + arch.Addr(n) }

// pcOffset is where the pc is in a register block: behind sixteen general registers.
const pcOffset = 16 * 8

// counterAddr is the memory that every frame holds: first its own number as 8 bytes, then zeros.
const counterAddr = 0x404000

// recording is a trace file of a million frames.
type recording struct {
	name      string
	registers bool // does every frame hold the 2420 bytes of a processor with AVX-512?
	memory    int  // bytes of memory in every frame

	path string
	size int64 // in bytes
	file *tfile.File
	converted
}

// tenth is the beginning of a recording, enough of it for what takes long.
type tenth struct{ tfile.Content }

// NumFrames is a tenth of what there are.
func (t tenth) NumFrames() int { return t.Content.NumFrames() / 10 }

// recordings are the files that are measured. Read whole they are 200 MB and 2.4 GB.
func recordings() []*recording {
	return []*recording{
		{name: "200 bytes", memory: 183},
		{name: "2444 bytes", registers: true, memory: 8},
	}
}

// header is what a server would say of the run: with the sources of everything, since GDB warns of what has none.
func (r *recording) header(b *testing.B) tfile.Header {
	b.Helper()
	target := machine.AMD64{OrigRAX: true, Segments: true, AVX: true, AVX512: true, PKU: true}.Target()
	layout, err := target.Layout()
	check(b, err)
	h := tfile.Header{
		Order:        binary.LittleEndian,
		RegisterSize: layout.Size,
		Description:  string(target.XML()),
		Status:       &trace.Status{Reason: trace.ReasonStop, Frames: million, Created: million, Size: 4 << 30},
	}
	commands := []string{fmt.Sprintf("collect *(unsigned long *) %#x", counterAddr)}
	for _, n := range []trace.Number{rare, usual} {
		addr := addrOf(n)
		action := trace.Action{Kind: trace.CollectMemory, Base: trace.Absolute, Offset: counterAddr, Length: uint64(r.memory)}
		h.Tracepoints = append(h.Tracepoints, trace.Tracepoint{
			Number:  n,
			Addr:    addr,
			Enabled: true,
			Actions: []trace.Action{action},
			Source:  trace.Source{At: "*" + addr.String(), Commands: commands},
		})
	}
	return h
}

// writeTo writes the file as a server would, frame by frame.
func (r *recording) writeTo(w io.Writer, h tfile.Header) error {
	out, err := tfile.NewWriter(w, h)
	if err != nil {
		return err
	}
	builder := tfile.Builder{Order: h.Order}
	var frame []byte
	for i := range million {
		n := usual
		if i == million-1 {
			n = rare
		}
		builder.Begin(frame[:0], n)
		if r.registers {
			registers := builder.Registers(h.RegisterSize)
			clear(registers)
			binary.LittleEndian.PutUint64(registers[pcOffset:], uint64(addrOf(n)))
		}
		memory := builder.Memory(counterAddr, r.memory)
		clear(memory)
		binary.LittleEndian.PutUint64(memory, uint64(i))
		frame = builder.Finish()
		if err := out.WriteFrame(frame); err != nil {
			return err
		}
	}
	return out.Close()
}

// save writes the file into dir, and all of it to the disk, so that this does not go on while others are measured; and opens
// it.
func (r *recording) save(b *testing.B, dir string) {
	b.Helper()
	r.path = filepath.Join(dir, fmt.Sprintf("%d.tf", r.memory))
	f, err := os.Create(r.path)
	check(b, err)
	check(b, r.writeTo(f, r.header(b)))
	check(b, f.Sync())
	stat, err := f.Stat()
	check(b, err)
	r.size = stat.Size()
	r.file, err = tfile.Open(f, r.size)
	check(b, err)
	b.Cleanup(func() { f.Close() })
}
