//go:build linux

package osdata

import (
	"slices"
	"strconv"
	"strings"

	"tracewell/target"
)

// cpus has a column for everything that the kernel tells of a processor, which differs between kinds of them.
func cpus(r *reading, t *target.OSTable) {
	var all []map[string]string
	for line := range strings.Lines(r.text("cpuinfo")) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key = strings.TrimSpace(key)
		// Each processor's lines begin with this key on x86 and ARM; some machines have lines of the whole system in front
		// of the first.
		if key == "processor" || len(all) == 0 {
			all = append(all, make(map[string]string))
		}
		all[len(all)-1][key] = strings.TrimSpace(value)
		// In the order of their first appearance, like gdbserver's.
		if !slices.Contains(t.Columns, key) {
			t.Columns = append(t.Columns, key)
		}
	}
	for _, cpu := range all {
		// A processor that lacks a key has an empty cell, so that columns stay in line.
		row := make([]string, len(t.Columns))
		for i, key := range t.Columns {
			row[i] = cpu[key]
		}
		t.Rows = append(t.Rows, row)
	}
}

func modules(r *reading, t *target.OSTable) {
	for _, fields := range r.rows("modules", 0) {
		if len(fields) < len(t.Columns) {
			continue
		}
		row := fields[:len(t.Columns)] // one that taints the kernel has a field more
		// 0 for who may not see kernel addresses (kptr_restrict). gdbserver prints it without 0x.
		if address, err := strconv.ParseUint(row[5], 0, 64); err == nil {
			row[5] = strconv.FormatUint(address, 16)
		}
		t.Rows = append(t.Rows, row)
	}
}
