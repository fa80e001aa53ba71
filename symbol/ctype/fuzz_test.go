package ctype

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"sync"
	"testing"
)

// FuzzProgram: whatever stands where debugging information should, it is read to an end, and types are of what is there.
func FuzzProgram(f *testing.F) {
	file, err := elf.Open("../../internal/cli/testdata/queue")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	section := func(name string) []byte {
		if s := file.Section(name); s != nil {
			content, err := s.Data()
			if err != nil {
				f.Fatal(err)
			}
			return content
		}
		return nil
	}
	abbrev, text, lineText := section(".debug_abbrev"), section(".debug_str"), section(".debug_line_str")
	f.Add(section(".debug_info"), abbrev)
	f.Add(section(".debug_info")[:300], abbrev)
	f.Fuzz(func(t *testing.T, info, abbrev []byte) {
		data, err := dwarf.New(abbrev, nil, nil, info, nil, nil, nil, text)
		if err != nil {
			return
		}
		if err := data.AddSection(".debug_line_str", lineText); err != nil {
			return
		}
		p := Read(data, &sync.Mutex{}, false)
		printer := Printer{Order: binary.LittleEndian}
		for _, name := range p.Globals() {
			if _, typ, ok := p.Global(name); ok {
				printer.Append(nil, typ, make([]byte, min(typ.Size, 1<<12)))
			}
		}
		for _, local := range p.Locals(0x4011b5) {
			_ = local.Type.String()
		}
	})
}
