package view

import (
	"encoding/hex"
	"strconv"

	"tracewell/arch"
	"tracewell/internal/jsontext"
	"tracewell/tfile"
)

func appendHex(dst []byte, n uint64) []byte { return strconv.AppendUint(append(dst, "0x"...), n, 16) }

// AppendJSON appends a frame as one JSON object, without a line feed:
//
//	{"frame":0,"tracepoint":2,"source":"queue.c:23","pc":"0x4011b5","symbol":"push+95","line":"queue.c:23",
//	 "registers":{"rip":"0x4011b5",…},
//	 "memory":[{"address":"0x404080","bytes":"28000000","value":"0x28","symbol":"limit"},…],
//	 "variables":{"hits":1}}
//
// Always there are frame, tracepoint, registers, memory and variables; source if the user gave one, pc if it is known, symbol
// and line if the program has them. A frame without registers has an empty object of them. Bytes are in the order of memory;
// value is for blocks of 1, 2, 4 and 8 bytes. "stepped":true stands in frames of while-stepping, "comm" is the
// name of the thread where that is known, "static" has the data of a
// static tracepoint, "registerBytes" the register block of a file without a target description, "damaged" says what keeps the
// rest from being read.
func (v *View) AppendJSON(dst []byte, f Frame) []byte {
	dst = append(dst, `{"frame":`...)
	dst = strconv.AppendInt(dst, int64(f.Number), 10)
	dst = append(dst, `,"tracepoint":`...)
	dst = strconv.AppendInt(dst, int64(f.Tracepoint()), 10)
	// Prepared once, since it is the same in each of the tracepoint's frames.
	if t := v.tracepoints[f.Tracepoint()]; t != nil {
		dst = append(dst, t.json...)
	}
	if f.HasPC {
		dst = append(dst, `,"pc":"`...)
		dst = append(appendHex(dst, uint64(f.PC)), '"')
		dst = v.appendSymbol(dst, f.PC)
		if line := v.Line(f.PC); line != "" {
			dst = jsontext.AppendString(append(dst, `,"line":`...), line)
		}
	}
	if v.Stepped(f) {
		dst = append(dst, `,"stepped":true`...)
	}
	if name, ok := v.Comm(f); ok {
		dst = jsontext.AppendString(append(dst, `,"comm":`...), name)
	}
	dst = v.appendRegisters(dst, f.Registers())
	dst = v.appendMemory(dst, f)
	dst = v.appendVariables(dst, f)
	if static := f.Static(); static != nil {
		dst = appendBytes(append(dst, `,"static":`...), static)
	}
	if f.Damaged != nil {
		dst = jsontext.AppendString(append(dst, `,"damaged":`...), f.Damaged.Error())
	}
	return append(dst, '}')
}

// staticMembers are the members of a frame that its tracepoint decides.
func staticMembers(t *tracepoint) []byte {
	if t.source == "" {
		return nil
	}
	return jsontext.AppendString([]byte(`,"source":`), t.source)
}

func (v *View) appendSymbol(dst []byte, addr arch.Addr) []byte {
	name := v.Describe(addr)
	if name == "" {
		return dst
	}
	return jsontext.AppendString(append(dst, `,"symbol":`...), name)
}

func appendBytes(dst, b []byte) []byte {
	dst = hex.AppendEncode(append(dst, '"'), b)
	return append(dst, '"')
}

func (v *View) appendRegisters(dst, block []byte) []byte {
	if block != nil && v.Layout == nil {
		dst = appendBytes(append(dst, `,"registerBytes":`...), block)
	}
	dst = append(dst, `,"registers":{`...)
	first := true
	for i := range v.registers {
		slot := &v.registers[i]
		before := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		dst = append(dst, slot.key...)
		dst = append(dst, `:"`...)
		var ok bool
		if dst, ok = v.AppendRegister(dst, slot.Slot, block); !ok {
			dst = dst[:before]
			continue
		}
		dst = append(dst, '"')
		first = false
	}
	return append(dst, '}')
}

func (v *View) appendMemory(dst []byte, f Frame) []byte {
	dst = append(dst, `,"memory":[`...)
	first := true
	for block := range f.Blocks() {
		if block.Kind != tfile.BlockMemory {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, `{"address":"`...)
		dst = appendHex(dst, uint64(block.Addr))
		dst = appendBytes(append(dst, `","bytes":`...), block.Bytes)
		// In the order of the target, which a reader of the bytes would have to know.
		if n, ok := v.Integer(block.Bytes); ok {
			dst = append(dst, `,"value":"`...)
			dst = append(appendHex(dst, n), '"')
		}
		dst = append(v.appendSymbol(dst, block.Addr), '}')
	}
	return append(dst, ']')
}

func (v *View) appendVariables(dst []byte, f Frame) []byte {
	dst = append(dst, `,"variables":{`...)
	// Most tracepoints collect fewer, and then nothing is allocated.
	var room [8]Variable
	for i, variable := range AppendVariables(room[:0], f) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if name, ok := v.variables[variable.Number]; ok {
			dst = append(dst, name.key...)
		} else {
			dst = append(dst, '"')
			dst = append(strconv.AppendInt(dst, int64(variable.Number), 10), '"')
		}
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, variable.Value, 10)
	}
	return append(dst, '}')
}
