package fast

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/ax"
	asm "tracewell/internal/asm/amd64"
	"tracewell/internal/jit"
)

// What a printf prints is put together by the reader. The pad keeps the arguments and, of those that are strings, the bytes, which
// may be others by the time that anybody reads the slot. A string for which there is no room, or that cannot be read, has the hit
// be handed over to a trap, where all of it is printed, or the failure told.

// maxPrinted is how many bytes of a string there is room for. Slots have all of that, so it is less than what a printf may print.
const maxPrinted = 512

// printed is what the contents of a block are that a printf has made: the arguments, 8 bytes each, and then the strings.
type printed struct {
	format  string
	args    int
	strings []printedString
}

// printedString is one of the strings: its length in 16 bits, and so many bytes, among which there may be a zero that ends it.
type printedString struct {
	arg  int  // index of the argument that is its address
	at   int  // offset in the contents
	room int  // bytes, without the length
	cut  bool // it may be longer
}

// planPrinted plans the block of a printf, and returns the size of its contents.
func planPrinted(format string, args int) (p *printed, size int, err error) {
	list, err := ax.StringArguments(format, args)
	if err != nil {
		return nil, 0, err
	}
	p = &printed{format: format, args: args}
	size = 8 * args
	for _, s := range list {
		if s.Wide {
			return nil, 0, errors.New("a string of wide characters")
		}
		room := min(s.Limit, maxPrinted)
		p.strings = append(p.strings, printedString{arg: s.Arg, at: size, room: room, cut: room < s.Limit})
		size += 2 + room
	}
	if size > maxBlock {
		return nil, 0, fmt.Errorf("%d bytes of strings", size)
	}
	return p, size, nil
}

// text puts together what was printed.
func (p *printed) text(contents []byte) (string, error) {
	args := make([]int64, p.args)
	for i := range args {
		args[i] = int64(binary.LittleEndian.Uint64(contents[8*i:]))
	}
	left := p.strings
	text, err := ax.FormatPrintf(p.format, args, func(arch.Addr, bool, int) (string, error) {
		for args[left[0].arg] == 0 { // nobody asks for the string at 0
			left = left[1:]
		}
		s := left[0]
		left = left[1:]
		n := int(binary.LittleEndian.Uint16(contents[s.at:]))
		if n > s.room {
			return "", ErrCorrupt
		}
		kept := contents[s.at+2:][:n]
		if end := bytes.IndexByte(kept, 0); end >= 0 {
			kept = kept[:end]
		}
		return string(kept), nil
	})
	if err != nil {
		return "", ErrCorrupt
	}
	return text, nil
}

// print keeps what a printf prints.
func (b *builder) print(args []jit.Operand, blk *block) {
	b.letter(blk)
	contents := blk.at + 1
	for i, arg := range args {
		arg.Load(b.Assembler, regScratch)
		b.Store(8, b.slot(contents+8*i), regScratch)
	}
	for _, s := range blk.printed.strings {
		b.printString(contents, s)
	}
}

// printString keeps a string.
func (b *builder) printString(contents int, s printedString) {
	at := contents + s.at
	b.StoreImm(2, b.slot(at), 0)
	if s.room == 0 {
		return
	}
	behind, handed := b.NewLabel(), b.NewLabel()
	b.Mov(8, regScratch, b.slot(contents+8*s.arg))
	b.Test(8, regScratch, regScratch)
	b.Jcc(asm.CondE, behind)
	b.branchUnlessAddress(asm.At(regScratch, 0), handed)
	b.stopAt(handed, b.outLate)

	b.borrow(asm.RSI)
	b.borrow(regIndex)
	b.Mov(8, asm.RSI, b.slot(contents+8*s.arg))
	b.Arith(asm.Xor, 4, regIndex, regIndex)
	end, unread := b.NewLabel(), b.NewLabel()
	copying := b.state
	next := b.Here()
	from := b.Len()
	b.Load(1, false, regScratch, asm.Index(asm.RSI, regIndex, 1, 0))
	b.faults(faultRange{from: int32(from), to: int32(b.Len()), kind: faultElsewhere}, unread)
	b.Store(1, asm.Index(regSlot, regIndex, 1, int32(at+2)), regScratch)
	b.Inc(4, regIndex)
	b.Test(4, regScratch, regScratch)
	b.Jcc(asm.CondE, end)
	b.ArithImm(asm.Cmp, 4, regIndex, int32(s.room))
	b.Jcc(asm.CondB, next)
	if s.cut {
		b.Jmp(unread)
	}
	b.Bind(end)
	b.Store(2, b.slot(at), regIndex)
	b.giveBack(regIndex)
	b.giveBack(asm.RSI)
	b.Bind(behind)
	b.cold = append(b.cold, func() {
		b.Bind(unread)
		b.resumeFrom(copying)
		b.giveBack(regIndex)
		b.giveBack(asm.RSI)
		b.Jmp(handed)
	})
}
