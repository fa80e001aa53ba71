//go:build linux

// Package osdata reads what the Linux kernel tells of the whole system in /proc, as the tables that GDB's "info os" prints.
// Names, columns and their order are those of gdbserver 13.1.
//
// Nothing here fails because a process has gone away between two looks at it, or must not be looked at: its row, or what
// would have stood in it, is left out. A table whose source the kernel does not have is empty.
package osdata

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"tracewell/target"
)

// System is where the tables come from. It implements target.OS.
type System struct {
	Proc fs.FS // the tree at /proc
	// User and Group give the name of a number. Where they have none, the number stands for itself.
	User, Group func(id string) (name string, ok bool)
}

var _ target.OS = System{}

// Host is the system that this process runs on.
func Host() System {
	return System{
		Proc: os.DirFS("/proc"),
		User: func(id string) (string, bool) {
			// Without cgo this reads /etc/passwd only, so that names of a directory service are numbers.
			u, err := user.LookupId(id)
			if err != nil {
				return "", false
			}
			return u.Username, true
		},
		Group: func(id string) (string, bool) {
			g, err := user.LookupGroupId(id)
			if err != nil {
				return "", false
			}
			return g.Name, true
		},
	}
}

// source is a table and what fills in its rows, and its columns if these depend on them.
type source struct {
	target.OSTable
	fill func(r *reading, t *target.OSTable)
}

// sources are all tables, by name.
var sources = []source{
	{target.OSTable{Name: "cpus", Type: "cpus", Title: "CPUs", About: "Listing of all cpus/cores on the system"}, cpus},
	{target.OSTable{Name: "files", Type: "files", Title: "File descriptors", About: "Listing of all file descriptors",
		Columns: []string{"pid", "command", "file descriptor", "name"}}, files},
	{target.OSTable{Name: "modules", Type: "modules", Title: "Kernel modules", About: "Listing of all loaded kernel modules",
		Columns: []string{"name", "size", "num uses", "dependencies", "status", "address"}}, modules},
	{target.OSTable{Name: "msg", Type: "message queues", Title: "Message queues", About: "Listing of all message queues",
		Columns: names(messageColumns)}, messageQueues},
	{target.OSTable{Name: "processes", Type: "processes", Title: "Processes", About: "Listing of all processes",
		Columns: []string{"pid", "user", "command", "cores"}}, processes},
	{target.OSTable{Name: "procgroups", Type: "process groups", Title: "Process groups", About: "Listing of all process groups",
		Columns: []string{"pgid", "leader command", "pid", "command line"}}, processGroups},
	{target.OSTable{Name: "semaphores", Type: "semaphores", Title: "Semaphores", About: "Listing of all semaphores",
		Columns: names(semaphoreColumns)}, semaphores},
	{target.OSTable{Name: "shm", Type: "shared memory", Title: "Shared-memory regions",
		About: "Listing of all shared-memory regions", Columns: names(sharedMemoryColumns)}, sharedMemory},
	{target.OSTable{Name: "sockets", Type: "I sockets", Title: "Sockets", About: "Listing of all internet-domain sockets",
		Columns: []string{"local address", "local port", "remote address", "remote port", "state", "user", "family", "protocol"},
	}, sockets},
	{target.OSTable{Name: "threads", Type: "threads", Title: "Threads", About: "Listing of all threads",
		Columns: []string{"pid", "command", "tid", "core"}}, threads},
}

// OSTables implements target.OS.
func (System) OSTables() []target.OSTable {
	tables := make([]target.OSTable, len(sources))
	for i, s := range sources {
		tables[i] = s.OSTable
	}
	return tables
}

// ReadOSTable implements target.OS. The only error is that there is no table of that name.
func (s System) ReadOSTable(name string) (target.OSTable, error) {
	i := slices.IndexFunc(sources, func(s source) bool { return s.Name == name })
	if i < 0 {
		return target.OSTable{}, fmt.Errorf("the system has no table %q", name)
	}
	// A copy: fill appends rows, and cpus appends columns.
	table := sources[i].OSTable
	sources[i].fill(&reading{System: s, users: make(map[string]string), groups: make(map[string]string)}, &table)
	return table, nil
}

// reading is one reading of a table. It looks each name up once.
type reading struct {
	System
	users, groups map[string]string
}

// text reads a file; "" if that cannot be.
func (r *reading) text(path string) string {
	// Files of /proc have no size: they are read to their end.
	b, err := fs.ReadFile(r.Proc, path)
	if err != nil {
		return ""
	}
	return string(b)
}

// rows reads a file of lines with fields between blanks, less the first skip lines.
func (r *reading) rows(path string, skip int) [][]string {
	var rows [][]string
	for line := range strings.Lines(r.text(path)) {
		// A heading counts whatever stands in it.
		if fields := strings.Fields(line); skip > 0 {
			skip--
		} else if len(fields) > 0 {
			rows = append(rows, fields)
		}
	}
	return rows
}

// numbers lists the entries of a folder that are numbers, in their order.
func (r *reading) numbers(folder string) []int {
	entries, _ := fs.ReadDir(r.Proc, folder) // what was read before an error counts
	var all []int
	for _, e := range entries {
		// Beside processes /proc has files of the kernel's, beside descriptors a folder has none.
		if n, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// user names the user of a number.
func (r *reading) user(id string) string { return nameOf(id, r.users, r.User) }

// group names the group of a number.
func (r *reading) group(id string) string { return nameOf(id, r.groups, r.Group) }

func nameOf(id string, known map[string]string, lookUp func(string) (string, bool)) string {
	name, seen := known[id]
	if !seen {
		var ok bool
		// Looking a name up may ask a directory service, and a table has the same few users again and again.
		if name, ok = lookUp(id); !ok {
			name = id
		}
		known[id] = name
	}
	return name
}
