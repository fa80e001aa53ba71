package text

import (
	"tracewell/arch"
)

// dumpWidth is the bytes on a line of a hex dump.
const dumpWidth = 16

// AppendHexDump appends a hex dump of memory to dst: 16 bytes a line, in two groups, behind the address of the first and
// before the same as ASCII, with a dot for what is no printable character. Each line begins with indent. The first line
// begins at addr, whatever its alignment, so that offsets can be read off.
func AppendHexDump(dst []byte, indent string, addr arch.Addr, p []byte) []byte {
	return AppendPartialDump(dst, indent, addr, p, nil)
}

// AppendPartialDump is AppendHexDump for memory of which some bytes are not known, which are shown as ?? and a question mark; known
// nil is all.
func AppendPartialDump(dst []byte, indent string, addr arch.Addr, p []byte, known []bool) []byte {
	digits := addressDigits(addr, len(p))
	for len(p) > 0 {
		line := p[:min(dumpWidth, len(p))]
		dst = append(dst, indent...)
		dst = appendAddress(dst, addr, digits)
		dst = appendDumpLine(dst, line, known)
		dst = append(dst, '\n')
		p = p[len(line):]
		if known != nil {
			known = known[len(line):]
		}
		addr += dumpWidth
	}
	return dst
}

func appendDumpLine(dst, line []byte, known []bool) []byte {
	for i := range dumpWidth {
		if i%8 == 0 {
			dst = append(dst, ' ')
		}
		switch {
		case i >= len(line):
			dst = append(dst, "   "...)
		case known != nil && !known[i]:
			dst = append(dst, " ??"...)
		default:
			dst = append(dst, ' ', hexDigits[line[i]>>4], hexDigits[line[i]&15])
		}
	}
	dst = append(dst, "  |"...)
	for i, c := range line {
		if known != nil && !known[i] {
			c = '?'
		} else if c < ' ' || c > '~' {
			c = '.'
		}
		dst = append(dst, c)
	}
	return append(dst, '|')
}

// addressDigits is how many digits the addresses of a dump take: at least 8, so that dumps of one program line up.
func addressDigits(addr arch.Addr, n int) int {
	digits := 8
	for last := uint64(addr) + uint64(max(n, 1)) - 1; digits < 16 && last>>(4*digits) != 0; {
		digits++
	}
	return digits
}

func appendAddress(dst []byte, addr arch.Addr, digits int) []byte {
	dst = append(dst, "0x"...)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[addr>>shift&15])
	}
	return dst
}
