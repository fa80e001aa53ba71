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
		if key == "processor" || len(all) == 0 {
			all = append(all, make(map[string]string))
		}
		all[len(all)-1][key] = strings.TrimSpace(value)
		if !slices.Contains(t.Columns, key) {
			t.Columns = append(t.Columns, key)
		}
	}
	for _, cpu := range all {
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
		if address, err := strconv.ParseUint(row[5], 0, 64); err == nil {
			row[5] = strconv.FormatUint(address, 16)
		}
		t.Rows = append(t.Rows, row)
	}
}
