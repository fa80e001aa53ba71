//go:build linux && amd64

package guardtest

import (
	"debug/dwarf"
	"slices"
)

// linesWithin are the addresses in a range at which statements begin.
func linesWithin(l *lab, data *dwarf.Data, low, high uint64) (addresses []uint64) {
	l.Helper()
	for r := data.Reader(); ; {
		unit, err := r.Next()
		if err != nil {
			l.Fatal(err)
		}
		if unit == nil {
			break
		}
		lines, err := data.LineReader(unit)
		r.SkipChildren()
		if err != nil || lines == nil {
			continue
		}
		for entry := (dwarf.LineEntry{}); lines.Next(&entry) == nil; {
			if entry.IsStmt && !entry.EndSequence && entry.Address >= low && entry.Address < high {
				addresses = append(addresses, entry.Address)
			}
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
