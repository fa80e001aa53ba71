//go:build linux

package robust

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// processStat is what the kernel says of a process or thread.
type processStat struct {
	pid, group int
	state      byte
}

// readStat reads a stat file. The name in it, in parentheses, may hold anything.
func readStat(path string) (processStat, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return processStat{}, false
	}
	end := bytes.LastIndexByte(text, ')')
	pid, _ := strconv.Atoi(strings.Fields(string(text))[0])
	fields := strings.Fields(string(text[end+1:]))
	group, _ := strconv.Atoi(fields[2])
	return processStat{pid, group, fields[0][0]}, true
}

// dead are the states of what is no process any more: in a container nobody may reap orphans.
const dead = "ZX"

// alive reports whether there is a process of that number.
func alive(pid int) bool {
	stat, ok := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return ok && !strings.ContainsRune(dead, rune(stat.state))
}

// inGroups lists the living processes of process groups.
func inGroups(groups ...int) []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		stat, ok := readStat("/proc/" + entry.Name() + "/stat")
		for _, group := range groups {
			if ok && stat.group == group && !strings.ContainsRune(dead, rune(stat.state)) {
				found = append(found, stat.pid)
			}
		}
	}
	return found
}

// tasks lists the threads of a process.
func tasks(pid int) []processStat {
	var found []processStat
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, entry := range entries {
		if stat, ok := readStat(fmt.Sprintf("/proc/%d/task/%s/stat", pid, entry.Name())); ok {
			found = append(found, stat)
		}
	}
	return found
}

// allStopped reports whether every thread of a process is stopped by its tracer.
func allStopped(pid int) bool {
	for _, task := range tasks(pid) {
		if task.state != 't' {
			return false
		}
	}
	return true
}

// noneLeft waits until neither the server nor the program, nor any process of their groups, is there.
func (s *subject) noneLeft() {
	s.Helper()
	s.await("the end of the server and of all that it started", func() bool {
		return len(inGroups(s.pid, s.server.PID())) == 0
	})
}

// tracer is the process that traces the program, 0 for none.
func (s *subject) tracer() int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "TracerPid:")
	pid, _ := strconv.Atoi(strings.Fields(after)[0])
	return pid
}

// mapping is an executable range of the program's memory.
type mapping struct{ start, end uint64 }

func (m mapping) holds(addr uint64) bool { return m.start <= addr && addr < m.end }

// scratch lists the program's executable mappings that belong to no file and are not the kernel's: those that the server made.
func (s *subject) scratch() []mapping {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	var found []mapping
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 5 || !strings.Contains(fields[1], "x") {
			continue
		}
		var m mapping
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &m.start, &m.end); err != nil {
			s.Fatal(err)
		}
		found = append(found, m)
	}
	return found
}

// untouchedText compares the program's code in memory with its file: a breakpoint left behind would show.
func (s *subject) untouchedText() {
	s.Helper()
	f, err := elf.Open(s.path)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	defer memory.Close()
	for _, segment := range f.Progs {
		if segment.Type != elf.PT_LOAD || segment.Flags&elf.PF_X == 0 {
			continue
		}
		want, got := make([]byte, segment.Filesz), make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(want, 0); err != nil {
			s.Fatal(err)
		}
		if _, err := memory.ReadAt(got, int64(segment.Vaddr)); err != nil {
			s.Fatal(err)
		}
		for i := range want {
			if want[i] != got[i] {
				s.Errorf("code at %#x is %#x, in the file %#x", segment.Vaddr+uint64(i), got[i], want[i])
			}
		}
	}
}

// memory reads the program's memory, as it is.
func (s *subject) memory(addr uint64, n int) []byte {
	s.Helper()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	defer memory.Close()
	b := make([]byte, n)
	if _, err := memory.ReadAt(b, int64(addr)); err != nil {
		s.Fatal(err)
	}
	return b
}

// inScratch reports whether addr is in a mapping that the server made.
func (s *subject) inScratch(addr uint64) bool {
	return slices.ContainsFunc(s.scratch(), func(m mapping) bool { return m.holds(addr) })
}
