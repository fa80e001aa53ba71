package tfile

import "fmt"

// SizeSource says how the size of a register block became known.
type SizeSource uint8

// How the size of a register block became known.
const (
	SizeUnknown     SizeSource = iota // nothing tells
	SizeGiven                         // the caller said so
	SizeHexadecimal                   // the R line says so, read as GDB reads it
	SizeDecimal                       // the R line says so, read as GDB's manual has it: in hexadecimal no frame makes sense
)

// String says it in words.
func (s SizeSource) String() string {
	return [...]string{"unknown", "given", "of the R line, in hexadecimal", "of the R line, in decimal"}[s]
}

// settleRegisterSize takes the number of the R line for a decimal one, as the manual has it, if of the first frames that
// hold registers none can be read in hexadecimal and each can in decimal. GDB does not: it reads past the frames' ends.
func (f *File) settleRegisterSize(w *window, start int64) error {
	decimal := f.decimalSize
	if f.sizeFrom != SizeHexadecimal || decimal == 0 || decimal == f.header.RegisterSize {
		return nil
	}
	asHex, asDecimal := f.frame(nil, 0), f.frame(nil, 0)
	asDecimal.registerSize = decimal
	seen := 0
	for range senseLimit {
		h, ok, err := w.headerAt(f.header.Order, start)
		if err != nil {
			return err
		}
		if !ok || h.number == 0 || h.end > f.source.size || seen == senseFrames {
			break
		}
		start = h.end
		hex, err := w.look(asHex, h.start+FrameHeader, h.end, senseLimit)
		if err != nil {
			return err
		}
		if !hex.registers {
			continue
		}
		dec, err := w.look(asDecimal, h.start+FrameHeader, h.end, senseLimit)
		if err != nil || hex.whole || !dec.whole {
			return err
		}
		seen++
	}
	if seen > 0 {
		f.findings = append(f.findings, Finding{f.sizeLine, RuleDecimalSize,
			fmt.Sprintf("the frames have R blocks of %d bytes, not 0x%d: the R line is in decimal", decimal, decimal)})
		f.header.RegisterSize, f.sizeFrom = decimal, SizeDecimal
	}
	return nil
}
