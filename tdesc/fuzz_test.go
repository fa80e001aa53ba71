package tdesc_test

import (
	"encoding/binary"
	"strings"
	"testing"

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
	})
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
