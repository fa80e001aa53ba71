// Package retrace is the binary files of Renode's execution tracer (CreateExecutionTracing with isBinary), versions 2 to 5, of any
// processor. Numbers are little-endian:
//
//	"ReTrace" VERSION:1 PCBYTES:1 OPCODES:1 [ NAMES ]                  the header; NAMES if OPCODES is 1
//	NAMES:  MODES:1 LENGTH:1 NAME                                      versions 2 to 4; MODES is 1 if there are blocks
//	        COUNT:1 { LENGTH:1 NAME }                                  version 5; there are blocks if COUNT is not 1
//	block:  MODE:1 INSTRUCTIONS:8 { instruction }
//	instruction: PC:PCBYTES [ LENGTH:1 OPCODE ] { TYPE:1 DATA } 0:1    OPCODE in the order of memory, if there are opcodes
//	DATA of 1: KIND:1 ADDR:8 VALUE:8 PHYSICAL:8                        KIND 0, 1: device read, written; 2, 3: memory; 4: a fetch
//	DATA of 2: VL:8 VTYPE:8                                            the configuration of vectors
//	DATA of 3: AFTER:1 WIDTH:1 OP:1 RD RS1 RS2 VALUE                   operands of an atomic instruction, of 1<<WIDTH bytes, 4 or 8
//	DATA of 4: PRE:1 COUNT:1 { LENGTH:1 NAME SIZE:1 VALUE:SIZE }       registers ahead of the instruction, or behind it
//
// NAME is a triple and a model of LLVM, such as "riscv64 rocket". MODE is the number of a name, or before version 5 a bit each for
// Thumb and for AArch32, of armv7a for Thumb alone.
//
// The header, instructions and data are packets each. They are quoted in the words of Renode's text (package renode), but for the
// case of digits, and mean what these lines mean, the option sizes included. The opcodes of x86 and of big-endian processors have
// their bytes in the order of memory, those of Thumb their first halfword first, all others are numbers. Opcodes without pcs say
// nothing of where they were executed and are refused.
//
// In a block the pcs follow each other. If they do not, the tracer could not disassemble an instruction, and the next block begins
// there: that is told. Where a packet is none nothing says where the next begins, and what is behind it is not read.
//
// No trace of these tests is from a run here, since Renode could not be had: the layout is that of its source, and the tests put
// files together by it.
package retrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"tracewell/arch"
	"tracewell/itrace"
	"tracewell/itrace/internal/held"
	"tracewell/itrace/renode"
)

// Dialect is the dialect of Renode's binary files.
var Dialect = &itrace.Dialect{
	Name:    "retrace",
	Title:   "Renode's binary execution trace",
	Options: renode.Dialect.Options,
	New:     func(s itrace.Settings) itrace.Decoder { return &decoder{sized: s["sizes"] == "opcode"} },
	Binary: &itrace.Binary{
		Is:     func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Quoted: renode.Dialect,
	},
	Why: func(head []byte) string {
		h, _, _ := parseHeader(head)
		return "the header of " + h.String()
	},
}

var magic = []byte("ReTrace")

const (
	oldest, blocksByFlag, newest = 2, 4, 5 // versions; up to the second a flag says whether there are blocks
	mostPC                       = 8       // bytes
)

// header is what a file begins with.
type header struct {
	version, pcBytes byte
	opcodes, blocks  bool
	names            []string
}

// String gives the header in words.
func (h *header) String() string {
	what := fmt.Sprintf("ReTrace %d, pcs of %d bytes", h.version, h.pcBytes)
	if h.opcodes {
		what += ", opcodes of " + strings.Join(h.names, ", ")
	}
	return what
}

// parseHeader reads the header of a file, and says where the first instruction begins, 0 if the header is not whole.
func parseHeader(text []byte) (h header, end int, problem *itrace.SyntaxError) {
	const fixed = 10
	if !bytes.HasPrefix(text, magic[:min(len(magic), len(text))]) {
		return h, 0, itrace.Mismatch(text, 0, "ReTrace")
	}
	if len(text) < fixed {
		return h, 0, nil
	}
	h.version, h.pcBytes, h.opcodes = text[7], text[8], text[9] == 1
	switch {
	case h.version < oldest || h.version > newest:
		return h, 0, wrong(7, "version", h.version, "a version from 2 to 5")
	case h.pcBytes > mostPC:
		return h, 0, wrong(8, "the length", h.pcBytes, "a pc of 8 bytes at most")
	case text[9] > 1:
		return h, 0, wrong(9, "the byte", text[9], "0 or 1, for opcodes")
	case !h.opcodes:
		return h, fixed, nil
	case len(text) == fixed:
		return h, 0, nil
	}
	end = fixed + 1
	count := text[fixed]
	if h.version <= blocksByFlag {
		if count > 1 {
			return h, 0, wrong(fixed, "the byte", count, "0 or 1, for blocks")
		}
		h.blocks, count = count == 1, 1
	} else {
		h.blocks = count != 1
	}
	for range count {
		if end >= len(text) || end+1+int(text[end]) > len(text) {
			return h, 0, nil
		}
		length := int(text[end])
		h.names = append(h.names, string(text[end+1:end+1+length]))
		end += 1 + length
	}
	return h, end, nil
}

// wrong says what is wrong at a place.
func wrong(at int, what string, value byte, expected string) *itrace.SyntaxError {
	return &itrace.SyntaxError{Column: at + 1, Found: fmt.Sprintf("%s %d", what, value), Expected: expected}
}

// formOf is the form of opcodes in a mode.
func (h *header) formOf(mode byte) (form arch.Encoding, ok bool) {
	const thumb, narrow = 1, 2 // bits before version 5
	switch {
	case h.version <= blocksByFlag && len(h.names) > 0:
		form = arch.EncodingOf(h.names[0])
		switch wide := form.State == 'O'; {
		case mode > thumb|narrow || !wide && mode > thumb || wide && mode == thumb:
			return form, false
		case mode&thumb != 0:
			form.State = 'T'
		case mode&narrow != 0:
			form.State = 'A'
		}
	case int(mode) < len(h.names):
		form = arch.EncodingOf(h.names[mode])
	case h.opcodes:
		return form, false
	}
	return form, true
}

// decoder is the Decoder of Renode's binary files. Its units are the header, and an instruction with its data and with what a block
// begins with if it is the first of one.
type decoder struct {
	sized  bool // the option
	header header
	form   arch.Encoding // of the block, or of all
	fixed                // what else the state is, but for held
	held   held.Values
	words  []byte  // of all packets of a Decode
	data   []datum // of the instruction at hand
	values []named // of the registers at hand
}

// fixed is the part of the state that has one length.
type fixed struct {
	Begun, Lost bool
	Seen        seen
	Mode        byte
	Left        uint64 // instructions of the block
	Next        uint64 // pc, within the block
}

// seen is what a trace has had.
type seen byte

const (
	seenAccesses seen = 1 << iota
	seenRegisters
	allSeen = 1<<iota - 1
)

// AppendState implements itrace.Decoder.
func (d *decoder) AppendState(dst []byte) []byte {
	if !d.Begun {
		return dst
	}
	var head []byte // none if it could not be read
	if d.header.version > 0 {
		head = d.header.append(nil)
	}
	dst, _ = binary.Append(append(append(dst, byte(len(head)), byte(len(head)>>8)), head...), binary.LittleEndian, d.fixed)
	return d.held.AppendState(dst)
}

// append appends the header as it stands in a file.
func (h *header) append(dst []byte) []byte {
	dst = append(append(dst, magic...), h.version, h.pcBytes, 0)
	if !h.opcodes {
		return dst
	}
	dst[len(dst)-1] = 1
	count := byte(len(h.names))
	if h.version <= blocksByFlag {
		if count = 0; h.blocks {
			count = 1
		}
	}
	dst = append(dst, count)
	for _, name := range h.names {
		dst = append(append(dst, byte(len(name))), name...)
	}
	return dst
}

// Restore implements itrace.Decoder.
func (d *decoder) Restore(state []byte) error {
	*d = decoder{sized: d.sized, words: d.words, data: d.data, values: d.values}
	if len(state) == 0 {
		return d.held.Restore(nil)
	}
	size := binary.Size(d.fixed)
	if len(state) < 2 {
		return itrace.ErrState
	}
	length := int(binary.LittleEndian.Uint16(state))
	if len(state) < 2+length+size {
		return itrace.ErrState
	}
	var h header
	var end int
	var problem *itrace.SyntaxError
	if length > 0 {
		h, end, problem = parseHeader(state[2 : 2+length])
	}
	rest := state[2+length:]
	for _, b := range rest[:2] {
		if b > 1 { // encoding/binary takes any other for true as well
			return itrace.ErrState
		}
	}
	if _, err := binary.Decode(rest, binary.LittleEndian, &d.fixed); err != nil || end != length || problem != nil || !d.Begun ||
		length == 0 && !d.Lost || d.Seen > allSeen {
		return itrace.ErrState
	}
	d.header = h
	var ok bool
	if d.form, ok = h.formOf(d.Mode); !ok {
		return itrace.ErrState
	}
	return d.held.Restore(rest[size:])
}
