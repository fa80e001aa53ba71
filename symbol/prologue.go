package symbol

import (
	"bytes"
	"sort"
	"strings"

	"tracewell/arch"
	"tracewell/symbol/debuginfo"
)

// Where a tracepoint on a function goes is GDB's rule, which is a guess that has to be the same one: behind the instructions that
// make the frame, at the next line. What is read of the code is no more than GDB reads. Where a compiler tells from the first
// instruction on where variables are, the function's very beginning is as good.

// skip returns where a tracepoint goes that is asked for at pc: behind the prologue of the function there, if pc lies within.
func (u *unit) skip(o *Object, pc arch.Addr) arch.Addr {
	b := u.blockAt(pc).linkage()
	// A location within the prologue moves to its end, since arguments are not yet where the debug information says they are. With
	// trusted lists of locations they are found everywhere.
	if b == nil || u.scopes().trusted || !b.within(b.begin(), pc) {
		return pc
	}
	return max(pc, u.behindPrologue(o, b))
}

// behindPrologue returns where the body of a function begins.
func (u *unit) behindPrologue(o *Object, b *block) arch.Addr {
	// Three rules, the best first: the compiler marks the end of the prologue; Clang begins a second line there; and on x86-64 the
	// instructions that set up rbp are known. On other machines lines have to do.
	pc := o.framed(b.begin())
	if body := u.markedBody(b); body != 0 {
		pc = body
	} else if fromLLVM(u.Producer) || !u.file.IsAMD64() {
		if end := u.secondLine(b); end != 0 {
			pc = max(b.begin(), end)
		}
	}
	s := u.spanAt(pc)
	if s.begin != pc && b.begin() <= s.end && s.end < b.high() {
		pc = s.end // in the middle of a line
	}
	return pc
}

// start returns where a tracepoint on a function, or on an inlined copy of one, goes.
func (u *unit) start(o *Object, b *block) arch.Addr {
	pc := b.begin()
	if u.Language == debuginfo.LanguageAsm || u.scopes().trusted && u.spanAt(pc).table != nil {
		return pc
	}
	// The first line entry of a function may begin behind its first byte, which is padding then.
	if s := u.spanAt(pc); s.begin >= pc || s.table == nil {
		pc = s.begin
	}
	return u.skip(o, pc)
}

// markedBody returns where the compiler says that the body of a function begins, 0 if it does not.
func (u *unit) markedBody(b *block) arch.Addr {
	begin := b.begin()
	s := u.spanAt(begin)
	if s.table == nil {
		return 0
	}
	// Only marks in the same piece count; the body cannot begin in code that was moved away.
	from := sort.Search(len(s.table.entries), func(i int) bool { return s.table.entries[i].addr >= begin })
	for _, e := range s.table.entries[from:] {
		if !b.within(begin, e.addr) {
			break
		}
		if e.body {
			return e.addr
		}
	}
	return 0
}

// fromLLVM reports whether the line program marks the end of a prologue by a second line, as LLVM's does and GDB relies on.
func fromLLVM(producer string) bool {
	return strings.HasPrefix(producer, "clang ") || strings.Contains(producer, " F90 Flang ")
}

// secondLine returns where the prologue ends by the lines alone: where the second line begins that is not above the first.
// It returns 0 if there is no such thing.
func (u *unit) secondLine(b *block) arch.Addr {
	begin := b.begin()
	end := b.piece(begin).End
	s := u.spanAt(begin)
	if s.table == nil {
		return 0
	}
	if twice(s.table, s.begin, begin) {
		return begin
	}
	if s.end >= end {
		return 0
	}
	// Lines above the first one are code that the compiler hoisted into the prologue. Inlined code has lines of its own, perhaps of
	// another file, and is never part of a prologue.
	for s.end < end {
		next := u.spanAt(s.end)
		if next.table == nil || next.line >= s.line || next.table != s.table {
			break
		}
		if in := u.blockAt(s.end).nearest(); in != nil && in.function.inlined {
			break
		}
		s = next
	}
	if s.end < end {
		return s.end
	}
	return s.begin
}

// twice reports whether a table has two lines in a row at the beginning of a function: a prologue without instructions.
func twice(t *fileTable, addr, begin arch.Addr) bool {
	for i, e := range t.entries {
		if e.addr == addr && e.line != 0 {
			return i+1 < len(t.entries) && t.entries[i+1].line != 0 && t.entries[i+1].addr == begin
		}
	}
	return false
}

var (
	endbr64  = []byte{0xf3, 0x0f, 0x1e, 0xfa}
	movFrame = [][]byte{{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}} // mov %rsp,%rbp
)

const pushFrame = 0x55 // push %rbp

// framed returns the address behind the instructions that make a frame at the beginning of a function, pc itself if there
// are none or the machine is another.
func (o *Object) framed(pc arch.Addr) arch.Addr {
	if !o.file.IsAMD64() {
		return pc
	}
	// 48 bytes have room for the longest sequence below with endbr64 in front.
	code := o.code(pc, 48)
	at := aligned(code)
	if bytes.HasPrefix(code[at:], endbr64) {
		at += len(endbr64)
	}
	if at < len(code) && code[at] == pushFrame {
		for _, mov := range movFrame {
			if bytes.HasPrefix(code[at+1:], mov) {
				return pc + arch.Addr(at+1+len(mov))
			}
		}
	}
	return pc
}

// aligned returns the length of the instructions by which a function aligns its stack:
//
//	[push %reg]  lea N(%rsp),%reg  and $-M,%rsp  push -8(%reg)
func aligned(code []byte) int {
	// push has one byte, or two with a REX prefix for r8 to r15.
	for _, lead := range []int{0, 1, 2} {
		at := lead
		if lead > 0 && (len(code) <= lead || code[lead-1]&0xf8 != 0x50 || lead == 2 && code[0] != 0x41) {
			continue
		}
		lea := code[min(at, len(code)):]
		if len(lea) < 16 || lea[0]&0xfb != 0x48 || lea[1] != 0x8d || lea[2]&0xc7 != 0x44 || lea[3] != 0x24 {
			continue
		}
		at += 5
		switch {
		case bytes.HasPrefix(code[at:], []byte{0x48, 0x83, 0xe4}):
			at += 4
		case bytes.HasPrefix(code[at:], []byte{0x48, 0x81, 0xe4}):
			at += 7
		default:
			continue
		}
		if code[at] == 0x41 {
			at++
		}
		if code[at] == 0xff && code[at+1]&0xf8 == 0x70 && code[at+2] == 0xf8 {
			return at + 3
		}
	}
	return 0
}
