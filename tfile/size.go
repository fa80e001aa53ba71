package tfile

import (
	"fmt"

	"tracewell/tdesc"
)

// SizeSource says how the size of a register block became known.
type SizeSource uint8

// How the size of a register block became known.
const (
	SizeUnknown     SizeSource = iota // nothing tells
	SizeGiven                         // the caller said so
	SizeHexadecimal                   // the R line says so, read as GDB reads it
	SizeDecimal                       // the R line says so, read as GDB's manual has it: in hexadecimal no frame makes sense
	SizeDescription                   // there is no R line, and the registers of the target description have that length
)

// String says it in words.
func (s SizeSource) String() string {
	return [...]string{
		"unknown", "given", "of the R line, in hexadecimal", "of the R line, in decimal", "of the target description",
	}[s]
}

// describedSize is the length of a register block with all registers of a target description, 0 if nothing tells it.
func describedSize(description string) int {
	if description == "" {
		return 0
	}
	target, _, err := tdesc.Parse([]byte(description), nil)
	if err != nil {
		return 0
	}
	layout, err := target.Layout()
	if err != nil || layout.Size > MaxRegisters {
		return 0
	}
	return layout.Size
}

// detectRegisterSize has the frames decide where the file leaves the size open.
//
// The number of the R line is a decimal one, as the manual has it, if of the first frames that hold registers none can be read in
// hexadecimal and each can in decimal. GDB does not: it reads past the frames' ends. Without an R line, which the manual lets
// a file do without and GDB does not, the size is that of the target description, unless no such frame can be read with it.
func (f *File) detectRegisterSize(w *window, start int64) error {
	other := f.decimalSize
	switch {
	case f.sizeFrom == SizeDescription:
		other = 0
	case f.sizeFrom != SizeHexadecimal || other == 0 || other == f.header.RegisterSize:
		return nil
	}
	fits, err := f.tryRegisterSizes(w, start, f.header.RegisterSize, other)
	switch {
	case err != nil || fits.frames == 0 || fits.first > 0:
		return err
	case f.sizeFrom == SizeDescription:
		f.header.RegisterSize, f.sizeFrom = 0, SizeUnknown
	case fits.second == fits.frames:
		f.findings = append(f.findings, Finding{f.sizeLine, RuleDecimalSize,
			fmt.Sprintf("the frames have R blocks of %d bytes, not 0x%d: the R line is in decimal", other, other)})
		f.header.RegisterSize, f.sizeFrom = other, SizeDecimal
	}
	return nil
}

// fits is how many of the first frames with registers there are, and can be read with one size and with the other.
type fits struct{ frames, first, second int }

// tryRegisterSizes reads the first frames that hold registers, from start on, with two sizes.
func (f *File) tryRegisterSizes(w *window, start int64, first, second int) (n fits, err error) {
	one, two := f.frame(nil, 0), f.frame(nil, 0)
	one.registerSize, two.registerSize = first, second
	for range senseLimit {
		h, ok, err := w.headerAt(f.header.Order, start)
		if err != nil || !ok || h.number == 0 || h.end > f.source.size || n.frames == senseFrames {
			return n, err
		}
		start = h.end
		in, err := w.look(one, h.start+FrameHeader, h.end, senseLimit)
		if err != nil {
			return n, err
		}
		if !in.registers {
			continue
		}
		n.frames++
		n.first += digit(in.whole)
		if in, err = w.look(two, h.start+FrameHeader, h.end, senseLimit); err != nil {
			return n, err
		}
		n.second += digit(in.whole)
	}
	return n, nil
}

func digit(on bool) int {
	if on {
		return 1
	}
	return 0
}
