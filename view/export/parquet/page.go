package parquet

import (
	"encoding/binary"
	"math"

	"tracewell/view/export"
)

// The types that values have in the file, as the format numbers them.
const (
	physicalBoolean = 0
	physicalInt32   = 1
	physicalInt64   = 2
	physicalFloat   = 4
	physicalDouble  = 5
	physicalBytes   = 6
)

// What the bytes of a value mean beyond that (the format's converted types), -1 for nothing.
const (
	convertedNone   = -1
	convertedText   = 0
	convertedMicros = 10 // a time, in microseconds since 1970, UTC
	convertedUint8  = 11 // further unsigned ones follow, then signed ones, each by size
	convertedInt8   = 15
)

// typeOf is what a column is in the file. An integer of less than 4 bytes is stored in 4.
func typeOf(c export.Column) (physical, converted int32) {
	switch c.Kind {
	case export.Text:
		return physicalBytes, convertedText
	case export.Truth:
		return physicalBoolean, convertedNone
	case export.Time:
		return physicalInt64, convertedMicros
	case export.Float:
		if c.Size == 4 {
			return physicalFloat, convertedNone
		}
		return physicalDouble, convertedNone
	}
	physical, converted = physicalInt32, convertedUint8
	if c.Kind == export.Integer {
		converted = convertedInt8
	}
	if c.Size == 8 {
		physical = physicalInt64
	}
	for size := 1; size < c.Size; size *= 2 {
		converted++
	}
	return physical, converted
}

// page gathers the values of a column.
type page struct {
	physical int32
	values   []byte
	truths   int // bits in values, of a column of truth values

	levels []byte // runs of rows that have a value, or have none
	known  bool   // the run that has not ended yet
	run    uint64
}

// add adds a row.
func (p *page) add(c export.Cell) {
	if c.Known != p.known {
		p.endRun()
		p.known = c.Known
	}
	p.run++
	if !c.Known {
		return
	}
	switch p.physical {
	case physicalBoolean:
		if p.truths%8 == 0 {
			p.values = append(p.values, 0)
		}
		p.values[len(p.values)-1] |= byte(c.Bits&1) << (p.truths % 8)
		p.truths++
	case physicalInt32:
		p.values = binary.LittleEndian.AppendUint32(p.values, uint32(c.Bits))
	case physicalFloat:
		p.values = binary.LittleEndian.AppendUint32(p.values, math.Float32bits(float32(math.Float64frombits(c.Bits))))
	case physicalBytes:
		p.values = append(binary.LittleEndian.AppendUint32(p.values, uint32(len(c.Text))), c.Text...)
	default:
		p.values = binary.LittleEndian.AppendUint64(p.values, c.Bits)
	}
}

// endRun writes a run of the format's hybrid of runs and packed bits: the length shifted by one, and the level.
func (p *page) endRun() {
	if p.run == 0 {
		return
	}
	level := byte(0)
	if p.known {
		level = 1
	}
	p.levels = append(binary.AppendUvarint(p.levels, p.run<<1), level)
	p.run = 0
}

// content is what the page holds, and begins the next one, which takes its room.
func (p *page) content(dst []byte) []byte {
	p.endRun()
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.levels)))
	dst = append(append(dst, p.levels...), p.values...)
	p.levels, p.values, p.truths = p.levels[:0], p.values[:0], 0
	return dst
}
