package tdesc_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/tdesc"
)

// FuzzParse has two documents, the second of which every xi:include of the first gets. What is accepted must come back
// from its own XML, and where it has a layout, every register must show in either byte order.
func FuzzParse(f *testing.F) {
	for _, docs := range documents {
		for _, d := range docs {
			f.Add([]byte(d.xml), []byte("<reg name='x' bitsize='8'/>"))
		}
	}
	core, types := []byte(readFile(f, "testdata/values/core.xml")), []byte(readFile(f, "testdata/values/types.xml"))
	f.Add([]byte(strange), []byte("<a/>"))
	f.Add([]byte(`<target><xi:include href="core.xml"/></target>`), core)
	f.Add([]byte(`<target><xi:include href="types.xml"/></target>`), types)
	f.Fuzz(func(t *testing.T, doc, annex []byte) {
		target, warnings, err := tdesc.Parse(doc, func(string) ([]byte, error) { return annex, nil })
		for _, w := range warnings {
			if w.Pos.Line < 1 || w.Text == "" {
				t.Errorf("warning without place or text: %v", w)
			}
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "target description: ") {
				t.Errorf("error %q does not say what was read", err)
			}
			return
		}
		checkRoundTrip(t, target)
		showAll(t, target)
		if d := tdesc.Diff(target, target); len(d) > 0 {
			t.Errorf("it differs from itself: %v", d)
		}
		inspected, err := tdesc.Options{Include: func(string) ([]byte, error) { return annex, nil }}.Inspect(doc)
		if err != nil || cmp.Diff(target, inspected.Target) != "" {
			t.Errorf("Inspect: error %v, or something else than Parse reads", err)
		}
		keepAll(t, doc, annex)
	})
}

// keepAll sees that what is unknown comes back from its own XML, too.
func keepAll(t *testing.T, doc, annex []byte) {
	options := tdesc.Options{KeepUnknown: true, Include: func(string) ([]byte, error) { return annex, nil }}
	kept, _, err := options.Parse(doc)
	if err != nil {
		t.Fatalf("Parse of the same to keep all: %v", err)
	}
	printed := kept.XML()
	again, _, err := options.Parse(printed)
	if err != nil {
		t.Fatalf("Parse of our own XML: %v\n%s", err, printed)
	}
	if diff := cmp.Diff(kept, again); diff != "" {
		t.Fatalf("Parse of our own XML (-printed +read):\n%s\n%s", diff, printed)
	}
}

func showAll(t *testing.T, target *tdesc.Target) {
	l, err := target.Layout()
	if err != nil || l.Size > 1<<16 {
		return
	}
	block := make([]byte, l.Size)
	for i := range block {
		block[i] = byte(i * 37)
	}
	for i := range l.Slots {
		for _, order := range []arch.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if l.Slots[i].Format(block, order) == "" || l.Slots[i].Hex(block, order) == "" {
				t.Errorf("reg %q shows nothing", l.Slots[i].Reg.Name)
			}
		}
	}
}
