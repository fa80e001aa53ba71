//go:build linux

package osdata

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"tracewell/target"
)

// stat is what a line of /proc/PID/stat, or that of a thread, tells.
type stat struct {
	command string // the program's name, cut short after 15 bytes, or what the thread calls itself
	group   int    // process group
	core    string // processor that it last ran on
}

// stat reads the line of a process or thread whose folder is given. It reports false for one that is gone.
func (r *reading) stat(folder string) (stat, bool) {
	// The command, in parentheses, may hold blanks and parentheses. State, parent and group follow it; the processor is
	// field 39 of the line (proc_pid_stat(5)).
	const group, core = 2, 39 - 3
	line := r.text(folder + "/stat")
	// The last parenthesis ends the command: what follows it are numbers and one letter.
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	fields := strings.Fields(line[end+1:])
	// A kernel older than 2.2.8 has no field for the processor.
	if len(fields) <= core {
		return stat{}, false
	}
	pgid, err := strconv.Atoi(fields[group])
	return stat{line[open+1 : end], pgid, fields[core]}, err == nil
}

// command is the name of the program that a process runs; its number if it is gone.
func (r *reading) command(pid string) string {
	if s, ok := r.stat(pid); ok {
		return s.command
	}
	return pid
}

// commandLine is a process's command and arguments, with a blank behind each. Threads of the kernel have a name in brackets.
func (r *reading) commandLine(pid string, s stat) string {
	// Each argument ends in a zero byte. A process may have overwritten them (setproctitle).
	if line := r.text(pid + "/cmdline"); line != "" {
		return strings.ReplaceAll(line, "\x00", " ")
	}
	return "[" + s.command + "]"
}

// owner is the name of the user with whose rights a process acts.
func (r *reading) owner(pid string) string {
	for line := range strings.Lines(r.text(pid + "/status")) {
		if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
			// The effective user is what rights are judged by.
			if fields := strings.Fields(ids); len(fields) > 1 {
				return r.user(fields[1]) // real, effective and so on
			}
		}
	}
	return ""
}

// eachProcess calls f with all processes in order.
func (r *reading) eachProcess(f func(pid string, s stat)) {
	// By number, which is mostly the order of their start.
	for _, n := range r.numbers(".") {
		pid := strconv.Itoa(n)
		if s, ok := r.stat(pid); ok {
			f(pid, s)
		}
	}
}

// eachThread calls f with all threads of a process in order.
func (r *reading) eachThread(pid string, f func(tid string, s stat)) {
	for _, n := range r.numbers(pid + "/task") {
		tid := strconv.Itoa(n)
		if s, ok := r.stat(pid + "/task/" + tid); ok {
			f(tid, s)
		}
	}
}

func processes(r *reading, t *target.OSTable) {
	r.eachProcess(func(pid string, s stat) {
		var cores []string
		// A process has the processors of all its threads, each once.
		r.eachThread(pid, func(_ string, s stat) { cores = append(cores, s.core) })
		// By number: they are digits without leading zeros, so a shorter one is smaller.
		slices.SortFunc(cores, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		t.Rows = append(t.Rows,
			[]string{pid, r.owner(pid), r.commandLine(pid, s), strings.Join(slices.Compact(cores), ",")})
	})
}

// processGroups has a row for each member of each group, the leader first. The kernel's own threads, in group 0, are in none.
func processGroups(r *reading, t *target.OSTable) {
	// Groups come in the order of their numbers, which is not that of the processes.
	groups := make(map[int][][]string)
	r.eachProcess(func(pid string, s stat) {
		if s.group == 0 {
			return
		}
		pgid := strconv.Itoa(s.group)
		row := []string{pgid, r.command(pgid), pid, r.commandLine(pid, s)}
		// The leader may come behind members with smaller numbers, after the numbers have wrapped around.
		if pid == pgid {
			groups[s.group] = slices.Insert(groups[s.group], 0, row)
		} else {
			groups[s.group] = append(groups[s.group], row)
		}
	})
	var numbers []int
	for n := range groups {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		t.Rows = append(t.Rows, groups[n]...)
	}
}

func threads(r *reading, t *target.OSTable) {
	r.eachProcess(func(pid string, leader stat) {
		r.eachThread(pid, func(tid string, s stat) {
			t.Rows = append(t.Rows, []string{pid, leader.command, tid, s.core})
		})
	})
}

// files has what the descriptors of all processes are open on; the bare number where that must not be known.
func files(r *reading, t *target.OSTable) {
	r.eachProcess(func(pid string, s stat) {
		folder := pid + "/fd"
		for _, n := range r.numbers(folder) {
			fd := strconv.Itoa(n)
			// A path, or socket:[INODE], pipe:[INODE], anon_inode:KIND. EACCES for the processes of others.
			name, err := fs.ReadLink(r.Proc, folder+"/"+fd)
			if err != nil {
				name = fd
			}
			t.Rows = append(t.Rows, []string{pid, s.command, fd, name})
		}
	})
}
