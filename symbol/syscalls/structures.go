package syscalls

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"tracewell/arch"
)

// The layouts of structures are those of machines with little-endian words of 64 bits.
var little = binary.LittleEndian

// What stat fills: the size of the structure, and where in it are the mode, the device that a file is, and its size.
const (
	statSize   = 144
	statMode   = 24
	statDevice = 40
	statLength = 48
)

// writeStat writes the type, the permissions and the size of a file, as strace does without -v.
func writeStat(dst []byte, at arch.Addr, _ int, read memory) []byte {
	b, ok := readAll(read, at, statSize)
	if !ok {
		return address(dst, uint64(at))
	}
	mode := uint64(little.Uint32(b[statMode:]))
	const typeMask = 0170000
	dst = append(dst, "{st_mode="...)
	if mode&typeMask != 0 { // what has no name in any file system, such as an epoll instance, has none
		dst = append(names(fileTypes, false)(dst, mode&typeMask), '|')
	}
	if special := mode & 07000; special != 0 {
		dst = append(values{{"S_ISUID", 04000}, {"S_ISGID", 02000}, {"S_ISVTX", 01000}}.bits(dst, special), '|')
	}
	dst = octal(dst, mode&0777)
	if kind := fileTypes.find(int64(mode & typeMask)); kind == "S_IFCHR" || kind == "S_IFBLK" {
		device := little.Uint64(b[statDevice:])
		major, minor := device>>8&0xfff|device>>32&^0xfff, device&0xff|device>>12&^0xff
		dst = hexadecimal(append(hexadecimal(append(dst, ", st_rdev=makedev("...), major), ", "...), minor)
		return append(dst, "), ...}"...)
	}
	dst = strconv.AppendInt(append(dst, ", st_size="...), int64(little.Uint64(b[statLength:])), 10)
	return append(dst, ", ...}"...)
}

func writeTime(dst []byte, at arch.Addr, _ int, read memory) []byte {
	b, ok := readAll(read, at, 16)
	if !ok {
		return address(dst, uint64(at))
	}
	dst = strconv.AppendInt(append(dst, "{tv_sec="...), int64(little.Uint64(b)), 10)
	dst = strconv.AppendInt(append(dst, ", tv_nsec="...), int64(little.Uint64(b[8:])), 10)
	return append(dst, '}')
}

// writePair writes two file descriptors.
func writePair(dst []byte, at arch.Addr, _ int, read memory) []byte {
	b, ok := readAll(read, at, 8)
	if !ok {
		return address(dst, uint64(at))
	}
	dst = strconv.AppendInt(append(dst, '['), int64(int32(little.Uint32(b))), 10)
	dst = strconv.AppendInt(append(dst, ", "...), int64(int32(little.Uint32(b[4:]))), 10)
	return append(dst, ']')
}

// writeStatus writes how a process ended or why it stopped, in the words of <sys/wait.h>.
func writeStatus(dst []byte, at arch.Addr, _ int, read memory) []byte {
	b, ok := readAll(read, at, 4)
	if !ok {
		return address(dst, uint64(at))
	}
	n := uint64(little.Uint32(b))
	signal, code := n&0x7f, n>>8&0xff
	const stopped, dumped = 0x7f, 0x80
	switch {
	case signal == 0:
		dst = strconv.AppendUint(append(dst, "[{WIFEXITED(s) && WEXITSTATUS(s) == "...), code, 10)
	case n == 0xffff:
		dst = append(dst, "[{WIFCONTINUED(s)"...)
	case signal == stopped:
		dst = signalName(append(dst, "[{WIFSTOPPED(s) && WSTOPSIG(s) == "...), code)
	default:
		dst = signalName(append(dst, "[{WIFSIGNALED(s) && WTERMSIG(s) == "...), signal)
		if n&dumped != 0 {
			dst = append(dst, " && WCOREDUMP(s)"...)
		}
	}
	return append(dst, "}]"...)
}

// writeSignals writes a set of signals: those that are in it, or, if these are most, those that are not.
func writeSignals(dst []byte, at arch.Addr, _ int, read memory) []byte {
	b, ok := readAll(read, at, 8)
	if !ok {
		return address(dst, uint64(at))
	}
	set := little.Uint64(b)
	if bits.OnesCount64(set) >= 2*64/3 {
		dst, set = append(dst, '~'), ^set
	}
	dst = append(dst, '[')
	for first := true; set != 0; first = false {
		n := bits.TrailingZeros64(set)
		set &= set - 1
		if !first {
			dst = append(dst, ' ')
		}
		dst = append(dst, strings.TrimPrefix(string(signalName(nil, uint64(n+1))), "SIG")...)
	}
	return append(dst, ']')
}

// writeAddress writes the address of a socket, of n bytes.
func writeAddress(dst []byte, at arch.Addr, n int, read memory) []byte {
	const longest = 128
	b, ok := readAll(read, at, min(n, longest))
	if !ok || n < 2 {
		return address(dst, uint64(at))
	}
	family := little.Uint16(b)
	dst = names(families, false)(append(dst, "{sa_family="...), uint64(family))
	port := func() uint64 { return uint64(binary.BigEndian.Uint16(b[2:])) }
	switch name := families.find(int64(family)); {
	case n == 2:
	case name == "AF_UNIX":
		dst = appendSocketPath(append(dst, ", sun_path="...), b[2:])
	case name == "AF_INET" && n >= 8:
		dst = strconv.AppendUint(append(dst, ", sin_port=htons("...), port(), 10)
		dst = netip.AddrFrom4([4]byte(b[4:8])).AppendTo(append(dst, `), sin_addr=inet_addr("`...))
		dst = append(dst, `")`...)
	case name == "AF_INET6" && n >= 28:
		dst = strconv.AppendUint(append(dst, ", sin6_port=htons("...), port(), 10)
		dst = strconv.AppendUint(append(dst, "), sin6_flowinfo=htonl("...), uint64(binary.BigEndian.Uint32(b[4:])), 10)
		dst = netip.AddrFrom16([16]byte(b[8:24])).AppendTo(append(dst, `), inet_pton(AF_INET6, "`...))
		dst = strconv.AppendUint(append(dst, `", &sin6_addr), sin6_scope_id=`...), uint64(little.Uint32(b[24:])), 10)
	case name == "AF_NETLINK" && n >= 12:
		dst = strconv.AppendInt(append(dst, ", nl_pid="...), int64(int32(little.Uint32(b[4:]))), 10)
		const width = 8
		groups := strconv.FormatUint(uint64(little.Uint32(b[8:])), 16)
		dst = append(dst, ", nl_groups=0x"+strings.Repeat("0", width-len(groups))+groups...)
	default:
		dst = quote(append(dst, ", sa_data="...), b[2:])
	}
	return append(dst, '}')
}

// appendSocketPath writes the path of a local socket. One that begins with a zero byte is no file's, and may contain more of them.
func appendSocketPath(dst, path []byte) []byte {
	if path[0] == 0 {
		return quote(append(dst, '@'), path[1:])
	}
	text, _, _ := strings.Cut(string(path), "\x00")
	return quote(dst, []byte(text))
}
