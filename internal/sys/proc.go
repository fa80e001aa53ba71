//go:build linux

package sys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Mapping is one line of /proc/PID/maps.
type Mapping struct {
	Start, End    uint64
	Read, Write   bool
	Exec, Private bool
	Offset        uint64
	Inode         uint64 // of the file; 0 without one
	Path          string // as the kernel prints it, "[vdso]" and the like included
}

// Mappings reads the address space of pid, in order of addresses.
func Mappings(pid int) ([]Mapping, error) {
	b, err := readFile(procPath(pid, "maps"))
	if err != nil {
		return nil, err
	}
	var maps []Mapping
	for line := range bytes.Lines(b) {
		m, err := parseMapping(string(bytes.TrimSuffix(line, []byte("\n"))))
		if err != nil {
			return nil, err
		}
		maps = append(maps, m)
	}
	return maps, nil
}

// parseMapping reads "start-end perms offset dev inode path", the path padded by blanks and possibly holding some.
// A program of a thousand threads has two thousand such lines.
func parseMapping(line string) (Mapping, error) {
	var m Mapping
	addresses, rest, _ := strings.Cut(line, " ")
	start, end, _ := strings.Cut(addresses, "-")
	perms, rest, _ := strings.Cut(rest, " ")
	offset, rest, _ := strings.Cut(rest, " ")
	_, rest, _ = strings.Cut(rest, " ") // device
	inode, path, _ := strings.Cut(rest, " ")
	var errs [4]error
	m.Start, errs[0] = strconv.ParseUint(start, 16, 64)
	m.End, errs[1] = strconv.ParseUint(end, 16, 64)
	m.Offset, errs[2] = strconv.ParseUint(offset, 16, 64)
	m.Inode, errs[3] = strconv.ParseUint(inode, 10, 64)
	if errors.Join(errs[:]...) != nil || len(perms) < 4 {
		return m, fmt.Errorf("line of maps %q: want addresses, permissions, offset, device and inode", line)
	}
	m.Read, m.Write, m.Exec, m.Private = perms[0] == 'r', perms[1] == 'w', perms[2] == 'x', perms[3] == 'p'
	m.Path = strings.TrimLeft(path, " ")
	return m, nil
}

// Auxv reads the auxiliary vector of pid.
func Auxv(pid int) ([]byte, error) { return readFile(procPath(pid, "auxv")) }

// Executable is the path of the program that pid runs.
func Executable(pid int) (string, error) { return os.Readlink(procPath(pid, "exe")) }

// OpenMemory opens the memory of pid for reading and writing, page protections notwithstanding.
func OpenMemory(pid int) (*os.File, error) { return os.OpenFile(procPath(pid, "mem"), os.O_RDWR, 0) }

// ThreadName is the name of a thread.
func ThreadName(tid int) string {
	var buf [64]byte
	b, err := readShort(taskPath(tid, "comm"), buf[:])
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

// readShort reads a file that fits into buf. It makes three system calls, and os.ReadFile ten: sessions ask for such files of
// a thousand threads.
func readShort(path string, buf []byte) ([]byte, error) {
	return look(func() ([]byte, error) {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		defer unix.Close(fd)
		n, err := unix.Read(fd, buf)
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		return buf[:n], nil
	})
}

// readFile is os.ReadFile.
func readFile(path string) ([]byte, error) {
	return look(func() ([]byte, error) { return os.ReadFile(path) })
}

// Threads lists the thread ids of pid.
func Threads(pid int) ([]int, error) {
	entries, err := look(func() ([]os.DirEntry, error) { return os.ReadDir(procPath(pid, "task")) })
	if err != nil {
		return nil, err
	}
	var tids []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}

// Processes lists the process ids of this machine, or of this container, in no order.
func Processes() ([]int, error) {
	names, err := look(func() ([]string, error) {
		f, err := os.Open("/proc")
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.Readdirnames(-1)
	})
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// Children lists the processes that the threads of pid have started and that have not been waited for. The kernel may leave some
// out of the list while others end.
func Children(pid int) []int {
	tids, _ := Threads(pid)
	var children []int
	for _, tid := range tids {
		list, _ := readFile(procPath(pid, "task/"+strconv.Itoa(tid)+"/children"))
		for field := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// StatusField reads one field of /proc/PID/status, such as "Tgid" or "Seccomp"; "" if there is none.
func StatusField(pid int, name string) (string, error) {
	b, err := readFile(procPath(pid, "status"))
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", err
}

// HasEnded reports whether a thread is gone, or is still to be waited for only.
func HasEnded(tid int) bool {
	line, err := readFile(procPath(tid, "stat"))
	state := line[bytes.LastIndexByte(line, ')')+1:]
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
	return gone || bytes.HasPrefix(state, []byte(" Z")) || bytes.HasPrefix(state, []byte(" X"))
}

// CountThreads is the number of threads of pid, those included that have ended and are to be waited for.
func CountThreads(pid int) (int, error) {
	field, err := StatusField(pid, "Threads")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(field)
}

// ThreadGroup is the process that tid belongs to.
func ThreadGroup(tid int) (int, error) {
	field, err := StatusField(tid, "Tgid")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(field)
}

// LastCPU reads the processor that a thread last ran on from its stat file, opened by OpenStat. buf is scratch space.
func LastCPU(stat *os.File, buf []byte) (int, error) {
	n, err := stat.ReadAt(buf, 0)
	if n == 0 {
		return 0, err
	}
	return lastCPU(buf[:n])
}

// ThreadCPU is the processor that a thread last ran on.
func ThreadCPU(tid int) (int, error) {
	var buf [512]byte
	line, err := readShort(taskPath(tid, "stat"), buf[:])
	if err != nil {
		return 0, err
	}
	return lastCPU(line)
}

// lastCPU finds field 39 of a stat line. The command in field 2 may hold anything, so counting starts behind its
// closing parenthesis.
func lastCPU(line []byte) (int, error) {
	const field, command = 39, 2
	rest := line[bytes.LastIndexByte(line, ')')+1:]
	for i := command; i < field; i++ {
		var ok bool
		if _, rest, ok = bytes.Cut(rest, []byte(" ")); !ok {
			return 0, fmt.Errorf("stat line has %d fields, want %d", i, field)
		}
	}
	cpu := 0
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		cpu = cpu*10 + int(c-'0')
	}
	return cpu, nil
}

// OpenStat opens the stat file of a thread for LastCPU.
func OpenStat(tid int) (*os.File, error) { return os.Open(taskPath(tid, "stat")) }

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// taskPath names a file of one thread, whichever process it is of.
func taskPath(tid int, name string) string {
	return procPath(tid, "task/"+strconv.Itoa(tid)+"/"+name)
}
