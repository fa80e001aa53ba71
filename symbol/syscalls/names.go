package syscalls

import (
	"slices"
	"strconv"
)

// values are names for numbers, or for bits.
type values []value

type value struct {
	name string
	n    int64
}

// inOrder numbers names from a number on.
func inOrder(first int64, names ...string) (all values) {
	for i, name := range names {
		all = append(all, value{name, first + int64(i)})
	}
	return all
}

var (
	accessModes = values{{"R_OK", 4}, {"W_OK", 2}, {"X_OK", 1}}
	openModes   = inOrder(0, "O_RDONLY", "O_WRONLY", "O_RDWR")
	openBits    = values{
		{"O_CREAT", 0100}, {"O_EXCL", 0200}, {"O_NOCTTY", 0400}, {"O_TRUNC", 01000}, {"O_APPEND", 02000}, {"O_NONBLOCK", 04000},
		{"O_SYNC", 04010000}, {"O_DSYNC", 010000}, {"O_ASYNC", 020000}, {"O_DIRECT", 040000}, {"O_LARGEFILE", 0100000},
		{"O_TMPFILE", 020200000}, {"O_DIRECTORY", 0200000}, {"O_NOFOLLOW", 0400000}, {"O_NOATIME", 01000000},
		{"O_CLOEXEC", 02000000}, {"O_PATH", 010000000},
	}
	atFlags = values{
		{"AT_SYMLINK_NOFOLLOW", 0x100}, {"AT_REMOVEDIR", 0x200}, {"AT_SYMLINK_FOLLOW", 0x400}, {"AT_NO_AUTOMOUNT", 0x800},
		{"AT_EMPTY_PATH", 0x1000},
	}
	protections = values{{"PROT_READ", 1}, {"PROT_WRITE", 2}, {"PROT_EXEC", 4}, {"PROT_GROWSDOWN", 1 << 24}, {"PROT_GROWSUP", 1 << 25}}
	mapKinds    = inOrder(0, "MAP_FILE", "MAP_SHARED", "MAP_PRIVATE", "MAP_SHARED_VALIDATE")
	mapBits     = values{
		{"MAP_FIXED", 0x10}, {"MAP_ANONYMOUS", 0x20}, {"MAP_32BIT", 0x40}, {"MAP_GROWSDOWN", 0x100}, {"MAP_DENYWRITE", 0x800},
		{"MAP_EXECUTABLE", 0x1000}, {"MAP_LOCKED", 0x2000}, {"MAP_NORESERVE", 0x4000}, {"MAP_POPULATE", 0x8000},
		{"MAP_NONBLOCK", 0x10000}, {"MAP_STACK", 0x20000}, {"MAP_HUGETLB", 0x40000}, {"MAP_SYNC", 0x80000},
		{"MAP_FIXED_NOREPLACE", 0x100000},
	}
	remapFlags = values{{"MREMAP_MAYMOVE", 1}, {"MREMAP_FIXED", 2}, {"MREMAP_DONTUNMAP", 4}}
	advices    = append(inOrder(0, "MADV_NORMAL", "MADV_RANDOM", "MADV_SEQUENTIAL", "MADV_WILLNEED", "MADV_DONTNEED"),
		inOrder(8, "MADV_FREE", "MADV_REMOVE", "MADV_DONTFORK", "MADV_DOFORK", "MADV_MERGEABLE", "MADV_UNMERGEABLE",
			"MADV_HUGEPAGE", "MADV_NOHUGEPAGE", "MADV_DONTDUMP", "MADV_DODUMP", "MADV_WIPEONFORK", "MADV_KEEPONFORK")...)
	whences   = inOrder(0, "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE")
	maskings  = inOrder(0, "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK")
	shutdowns = inOrder(0, "SHUT_RD", "SHUT_WR", "SHUT_RDWR")
	families  = append(inOrder(0, "AF_UNSPEC", "AF_UNIX", "AF_INET"),
		values{{"AF_INET6", 10}, {"AF_NETLINK", 16}, {"AF_PACKET", 17}, {"AF_ALG", 38}, {"AF_VSOCK", 40}}...)
	socketTypes  = inOrder(1, "SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW", "SOCK_RDM", "SOCK_SEQPACKET")
	socketBits   = values{{"SOCK_CLOEXEC", 02000000}, {"SOCK_NONBLOCK", 04000}}
	messageFlags = values{
		{"MSG_OOB", 1}, {"MSG_PEEK", 2}, {"MSG_DONTROUTE", 4}, {"MSG_CTRUNC", 8}, {"MSG_TRUNC", 0x20}, {"MSG_DONTWAIT", 0x40},
		{"MSG_EOR", 0x80}, {"MSG_WAITALL", 0x100}, {"MSG_CONFIRM", 0x800}, {"MSG_ERRQUEUE", 0x2000}, {"MSG_NOSIGNAL", 0x4000},
		{"MSG_MORE", 0x8000}, {"MSG_CMSG_CLOEXEC", 0x40000000},
	}
	cloneBits = values{
		{"CLONE_VM", 0x100}, {"CLONE_FS", 0x200}, {"CLONE_FILES", 0x400}, {"CLONE_SIGHAND", 0x800}, {"CLONE_PIDFD", 0x1000},
		{"CLONE_PTRACE", 0x2000}, {"CLONE_VFORK", 0x4000}, {"CLONE_PARENT", 0x8000}, {"CLONE_THREAD", 0x10000},
		{"CLONE_NEWNS", 0x20000}, {"CLONE_SYSVSEM", 0x40000}, {"CLONE_SETTLS", 0x80000}, {"CLONE_PARENT_SETTID", 0x100000},
		{"CLONE_CHILD_CLEARTID", 0x200000}, {"CLONE_DETACHED", 0x400000}, {"CLONE_UNTRACED", 0x800000},
		{"CLONE_CHILD_SETTID", 0x1000000},
	}
	waitOptions = values{
		{"WNOHANG", 1}, {"WSTOPPED", 2}, {"WEXITED", 4}, {"WCONTINUED", 8}, {"WNOWAIT", 1 << 24}, {"__WNOTHREAD", 1 << 29},
		{"__WALL", 1 << 30}, {"__WCLONE", 1 << 31},
	}
	controls = append(append(inOrder(0, "F_DUPFD", "F_GETFD", "F_SETFD", "F_GETFL", "F_SETFL", "F_GETLK", "F_SETLK", "F_SETLKW"),
		inOrder(36, "F_OFD_GETLK", "F_OFD_SETLK", "F_OFD_SETLKW")...), values{{"F_DUPFD_CLOEXEC", 1030}, {"F_ADD_SEALS", 1033}}...)
	resources = inOrder(0, "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_CORE", "RLIMIT_RSS", "RLIMIT_NPROC",
		"RLIMIT_NOFILE", "RLIMIT_MEMLOCK", "RLIMIT_AS", "RLIMIT_LOCKS", "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_NICE",
		"RLIMIT_RTPRIO", "RLIMIT_RTTIME")
	futexes = inOrder(0, "FUTEX_WAIT", "FUTEX_WAKE", "FUTEX_FD", "FUTEX_REQUEUE", "FUTEX_CMP_REQUEUE", "FUTEX_WAKE_OP",
		"FUTEX_LOCK_PI", "FUTEX_UNLOCK_PI", "FUTEX_TRYLOCK_PI", "FUTEX_WAIT_BITSET", "FUTEX_WAKE_BITSET")
	futexBits = values{{"FUTEX_PRIVATE_FLAG", 0x80}, {"FUTEX_CLOCK_REALTIME", 0x100}}
	clocks    = inOrder(0, "CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID",
		"CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME_COARSE", "CLOCK_MONOTONIC_COARSE", "CLOCK_BOOTTIME")
	polledEvents = values{
		{"POLLIN", 1}, {"POLLPRI", 2}, {"POLLOUT", 4}, {"POLLRDNORM", 0x40}, {"POLLRDBAND", 0x80}, {"POLLWRNORM", 0x100},
		{"POLLWRBAND", 0x200}, {"POLLERR", 8}, {"POLLHUP", 0x10}, {"POLLNVAL", 0x20}, {"POLLMSG", 0x400}, {"POLLREMOVE", 0x1000},
		{"POLLRDHUP", 0x2000},
	}
	epollEvents = values{
		{"EPOLLIN", 1}, {"EPOLLPRI", 2}, {"EPOLLOUT", 4}, {"EPOLLRDNORM", 0x40}, {"EPOLLRDBAND", 0x80}, {"EPOLLWRNORM", 0x100},
		{"EPOLLWRBAND", 0x200}, {"EPOLLMSG", 0x400}, {"EPOLLERR", 8}, {"EPOLLHUP", 0x10}, {"EPOLLRDHUP", 0x2000},
		{"EPOLLEXCLUSIVE", 1 << 28}, {"EPOLLWAKEUP", 1 << 29}, {"EPOLLONESHOT", 1 << 30}, {"EPOLLET", 1 << 31},
	}
	pollControls = inOrder(1, "EPOLL_CTL_ADD", "EPOLL_CTL_DEL", "EPOLL_CTL_MOD")
	fileTypes    = values{
		{"S_IFIFO", 0010000}, {"S_IFCHR", 0020000}, {"S_IFDIR", 0040000}, {"S_IFBLK", 0060000}, {"S_IFREG", 0100000},
		{"S_IFLNK", 0120000}, {"S_IFSOCK", 0140000},
	}
	signals = []string{
		"0", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT",
		"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
	}
)

// constants are the tables of which programs have names that an expression may use.
var constants = []values{
	accessModes, openModes, openBits, atFlags, protections, mapKinds, mapBits, whences, families, socketTypes, socketBits,
	messageFlags, cloneBits, waitOptions, controls, futexes, clocks, pollControls, polledEvents, epollEvents, {{"AT_FDCWD", -100}},
}

// find is the name of a number, "" without one.
func (all values) find(n int64) string {
	if at := slices.IndexFunc(all, func(v value) bool { return v.n == n }); at >= 0 {
		return all[at].name
	}
	return ""
}

// names writes a number by its name, as a signed one where it has none.
func names(all values, signed bool) func(dst []byte, n uint64) []byte {
	return func(dst []byte, n uint64) []byte {
		if name := all.find(int64(n)); name != "" {
			return append(dst, name...)
		}
		if signed {
			return strconv.AppendInt(dst, int64(n), 10)
		}
		return hexadecimal(dst, n)
	}
}

// flags writes the names of bits, and what has none as a number. A name that stands for several bits comes before those.
func flags(none string, all values) func(dst []byte, n uint64) []byte {
	return func(dst []byte, n uint64) []byte {
		if n == 0 {
			return append(dst, none...)
		}
		return all.bits(dst, n)
	}
}

func (all values) bits(dst []byte, n uint64) []byte {
	begin := len(dst)
	or := func() {
		if len(dst) > begin {
			dst = append(dst, '|')
		}
	}
	for _, v := range all {
		if bits := uint64(v.n); n&bits == bits {
			or()
			dst = append(dst, v.name...)
			n &^= bits
		}
	}
	if n != 0 {
		or()
		dst = hexadecimal(dst, n)
	}
	return dst
}

// joined writes a choice among names in some bits of a number, and the names of the other bits.
func joined(choice values, mask uint64, rest values) func(dst []byte, n uint64) []byte {
	pick := names(choice, false)
	return func(dst []byte, n uint64) []byte {
		dst = pick(dst, n&mask)
		if n &^= mask; n != 0 {
			dst = rest.bits(append(dst, '|'), n)
		}
		return dst
	}
}

var (
	openFlags  = joined(openModes, 3, openBits)
	mapFlags   = joined(mapKinds, 15, mapBits)
	socketType = joined(socketTypes, 15, socketBits)
)

// futexOperation writes an operation, whose flag for futexes of one process strace writes as a part of the name.
func futexOperation(dst []byte, n uint64) []byte {
	const private = 0x80
	name := futexes.find(int64(n &^ (private | 0x100)))
	if name == "" {
		return hexadecimal(dst, n)
	}
	dst = append(dst, name...)
	if n&private != 0 {
		dst = append(dst, "_PRIVATE"...)
	}
	if n&0x100 != 0 {
		dst = futexBits.bits(append(dst, '|'), 0x100)
	}
	return dst
}

// cloneFlags writes the flags of clone, of which the lowest byte is the signal at the end of the child.
func cloneFlags(dst []byte, n uint64) []byte {
	if bits := n &^ 0xff; bits != 0 {
		if dst = cloneBits.bits(dst, bits); n&0xff == 0 {
			return dst
		}
		dst = append(dst, '|')
	}
	return signalName(dst, n&0xff)
}

// signalName writes a signal; those without a name are the real-time ones.
func signalName(dst []byte, n uint64) []byte {
	const firstRealTime, last = 32, 64
	switch {
	case n == 0:
		return append(dst, '0')
	case n < firstRealTime:
		return append(append(dst, "SIG"...), signals[n]...)
	case n == firstRealTime:
		return append(dst, "SIGRTMIN"...)
	case n <= last:
		return strconv.AppendUint(append(dst, "SIGRT_"...), n-firstRealTime, 10)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
