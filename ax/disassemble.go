package ax

import "fmt"

// String gives the program in the text form that Assemble reads: one instruction a line, after its offset. Jumps name the
// offset of their target.
//
//	0  reg 6
//	3  ref64
//	4  if_goto 10
func (p *Program) String() string {
	var text []byte
	for in := range p.Instructions() {
		text = in.appendLine(text)
	}
	return string(text)
}

// Disassemble gives the text form of any bytecode, up to the first thing that is no instruction, which the error tells. It
// does not look at jumps; Decode does.
func Disassemble(code []byte) (string, error) {
	var text []byte
	for offset := 0; offset < len(code); {
		in, err := instructionAt(code, offset)
		if err != nil {
			return string(text), err
		}
		text = in.appendLine(text)
		offset += in.Size()
	}
	return string(text), nil
}

func (in Instruction) appendLine(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%4d  ", in.Offset)
	return append(in.appendText(dst), '\n')
}
