//go:build linux

package osdata

import (
	"strconv"
	"time"

	"tracewell/target"
)

// ipcColumn is a column of a table of System V objects and how its values are printed. The columns come in the order of the
// fields of the kernel's file, which may have more behind them.
type ipcColumn struct {
	name string
	show func(r *reading, field string) string
}

// How fields are printed.
var (
	asItIs    = func(_ *reading, field string) string { return field }
	asCommand = (*reading).command
	asUser    = (*reading).user
	asGroup   = (*reading).group
	asTime    = func(_ *reading, field string) string { return clock(field) }
)

var sharedMemoryColumns = []ipcColumn{
	{"key", asItIs}, {"shmid", asItIs}, {"permissions", asItIs}, {"size", asItIs}, {"creator command", asCommand},
	{"last op. command", asCommand}, {"num attached", asItIs}, {"user", asUser}, {"group", asGroup}, {"creator user", asUser},
	{"creator group", asGroup}, {"last shmat() time", asTime}, {"last shmdt() time", asTime},
	{"last shmctl() time", asTime},
}

var semaphoreColumns = []ipcColumn{
	{"key", asItIs}, {"semid", asItIs}, {"permissions", asItIs}, {"num semaphores", asItIs}, {"user", asUser}, {"group", asGroup},
	{"creator user", asUser}, {"creator group", asGroup}, {"last semop() time", asTime}, {"last semctl() time", asTime},
}

var messageColumns = []ipcColumn{
	{"key", asItIs}, {"msqid", asItIs}, {"permissions", asItIs}, {"num used bytes", asItIs}, {"num messages", asItIs},
	{"last msgsnd() command", asCommand}, {"last msgrcv() command", asCommand}, {"user", asUser}, {"group", asGroup},
	{"creator user", asUser}, {"creator group", asGroup}, {"last msgsnd() time", asTime}, {"last msgrcv() time", asTime},
	{"last msgctl() time", asTime},
}

// names lists the names of columns.
func names(columns []ipcColumn) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.name)
	}
	return all
}

func sharedMemory(r *reading, t *target.OSTable) { r.ipc(t, "sysvipc/shm", sharedMemoryColumns) }

func semaphores(r *reading, t *target.OSTable) { r.ipc(t, "sysvipc/sem", semaphoreColumns) }

func messageQueues(r *reading, t *target.OSTable) { r.ipc(t, "sysvipc/msg", messageColumns) }

// ipc reads a table of System V objects, whose first line is a heading.
func (r *reading) ipc(t *target.OSTable, file string, columns []ipcColumn) {
	// The kernel's columns: /proc/sysvipc is the same on every machine, but newer kernels append fields (shm has rss and
	// swap).
	for _, fields := range r.rows(file, 1) {
		// A line that was cut, as of a kernel without the fields, has no row.
		if len(fields) < len(columns) {
			continue
		}
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.show(r, fields[i])
		}
		t.Rows = append(t.Rows, row)
	}
}

// clock prints seconds of the epoch as the C function ctime does. Zero means that it never happened.
func clock(field string) string {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil || n == 0 {
		return ""
	}
	// In local time, as ctime has it.
	return time.Unix(n, 0).Format(time.ANSIC)
}
