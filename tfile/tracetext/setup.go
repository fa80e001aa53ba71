package tracetext

import (
	"encoding/binary"

	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tfile"
)

// frameKeywords are the words that begin the lines of frames. No register can be named by one.
var frameKeywords = []string{"tracewell", "frames", "frame", "end", "rest", "registers", "memory", "variable", "static", "raw"}

// maxImplied is how many bytes the R blocks of a frame may have together for registers to be left out that are zero. It
// keeps a small text from becoming a huge frame.
const maxImplied = 1 << 20

// setup is what is known of frames ahead of them.
type setup struct {
	order     arch.ByteOrder
	bigEndian bool
	size      int           // of an R block
	layout    *tdesc.Layout // of the target description; without registers if there is none that can be used
	registers registers
	names     map[int32]string // of variables; only where a name and a number stand for each other alone
	numbers   map[string]int32
}

func newSetup(h tfile.Header) setup {
	s := setup{order: h.Order, bigEndian: h.Order == binary.BigEndian, size: h.RegisterSize}
	s.layout = layoutOf(h.Description)
	s.registers = divide(s.layout.Slots, h.RegisterSize)
	s.names, s.numbers = make(map[int32]string), make(map[string]int32)
	uses := make(map[string]int)
	numbers := make(map[int32]int)
	for _, v := range h.Variables {
		uses[v.Name]++
		numbers[int32(v.Number)]++
	}
	for _, v := range h.Variables {
		if isWord(v.Name) && uses[v.Name] == 1 && numbers[int32(v.Number)] == 1 {
			s.names[int32(v.Number)], s.numbers[v.Name] = v.Name, int32(v.Number)
		}
	}
	return s
}
