package debuginfo

import (
	"reflect"
	"slices"
	"testing"

	"tracewell/arch"
)

// TestSearchTable compares the descriptions that .eh_frame_hdr leads to with those that reading all of .eh_frame finds, at both ends
// of each, and sees that a damaged table loses none.
func TestSearchTable(t *testing.T) {
	f, err := Open(sharedFile(t, "libstdc++.so.6"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u := f.unwind()
	all := u.all()
	for _, want := range all {
		for _, pc := range []arch.Addr{want.Begin, want.End - 1} {
			if got, ok := u.at(pc); !ok || got.Range != want.Range {
				t.Fatalf("%v: the table leads to %v, %v, and not to %v", pc, got.Range, ok, want.Range)
			}
		}
	}
	if gap := all[len(all)-1].End; len(all) < 1000 || len(u.table.rows) != len(all)*rowSize {
		t.Errorf("%d descriptions, %d rows", len(all), len(u.table.rows)/rowSize)
	} else if r, ok := u.at(gap); ok {
		t.Errorf("there is nothing at %v, and the table leads to %v", gap, r.Range)
	}
	pc := all[len(all)/2].Begin
	want, err := f.CFA(pc)
	if err != nil {
		t.Fatal(err)
	}
	u.table.rows = slices.Repeat([]byte{0x5a}, len(u.table.rows))
	if got, err := f.CFA(pc); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: with a damaged table %+v, %v, before %+v", pc, got, err, want)
	}
	u.table.rows = nil
	if got, err := f.CFA(pc); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: without a table %+v, %v, before %+v", pc, got, err, want)
	}
}
