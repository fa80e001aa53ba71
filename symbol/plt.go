package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
)

// importPrefix begins a location that is a call from one file of the program into others, by the stub that such calls go through.
const importPrefix = "plt:"

// stubSections have those stubs.
var stubSections = []string{".plt.sec", ".plt", ".plt.got"}

// cutImport takes a location apart that is a call into other files: [OBJECT:]plt:NAME.
func cutImport(text string) (object, name string, ok bool) {
	before, name, ok := strings.Cut(text, importPrefix)
	object, colon := strings.CutSuffix(before, ":")
	return object, name, ok && name != "" && (before == "" || colon)
}

// locateImports finds the stubs for functions of a name or pattern in some files of the program, without a name in the executable.
func (p *Program) locateImports(text, object, name string) ([]Location, error) {
	objects := p.Objects()[:1]
	if object != "" {
		if objects = p.named(object); len(objects) == 0 {
			return nil, p.noFile(&spec{text: text}, object)
		}
	}
	match := func(other string) bool { return other == name }
	if isPattern(name) {
		var err error
		if match, err = matcher(name); err != nil {
			return nil, &SyntaxError{Spec: text, Start: len(text) - len(name), End: len(text), Problem: err.Error()}
		}
	}
	// A library that is loaded later may have it, like any function. So this is no error of syntax, and the location can wait.
	// Without a name of a file only calls from the executable count: those of its libraries are many, and mostly not what is asked.
	missing := &NotFoundError{Spec: text, Kind: ImportName, Name: name, Within: object}
	nearest := newNearest(name)
	var found []Location
	for _, o := range objects {
		for addr, imported := range o.stubs().at {
			if match(imported) {
				found = append(found, o.describe(addr))
			}
			nearest.offerAs(imported, importPrefix+imported)
		}
		if slices.ContainsFunc(o.stubs().without, match) {
			missing.Note = fmt.Sprintf("%s calls it, if at all, without a stub, as -fno-plt has it: trace the function itself", o.path)
		}
	}
	if found == nil {
		missing.Nearest = nearest.names()
		return nil, missing
	}
	return arranged(found), nil
}

// stubs are those of a file, and the functions of others that it may call without one.
type stubs struct {
	at      map[arch.Addr]string // the name of the function that is called
	without []string
}

// stubSuffix is what disassemblers put behind the name of a function for its stub.
const stubSuffix = "@plt"

// stubAt is the function that the stub at an address calls, "" if there is none. Relocations are only read for what may be one.
func (o *image) stubAt(pc arch.Addr) string {
	for _, section := range stubSections {
		if code, addr, ok := o.file.Section(section); ok && pc >= addr && uint64(pc-addr) < uint64(len(code)) {
			return o.stubs().at[pc]
		}
	}
	return ""
}

// readStubs finds the stubs of the file.
func (o *image) readStubs() stubs {
	found := stubs{at: make(map[arch.Addr]string)}
	slots := o.imports()
	// A stub is known by the slot that it jumps through, and not by its place: sections begin with code of the linker's own, and
	// some linkers write stubs of other sizes. All of them begin at multiples of 8.
	if jump := o.file.Arch().StubSlot; jump != nil {
		for _, section := range stubSections {
			const alignment = 8
			code, addr, _ := o.file.Section(section)
			for at := 0; at < len(code); at += alignment {
				if slot, ok := jump(code[at:], addr+arch.Addr(at)); ok && slots[slot] != "" {
					found.at[addr+arch.Addr(at)] = slots[slot]
					delete(slots, slot)
				}
			}
		}
	}
	for _, name := range slots {
		found.without = append(found.without, name)
	}
	return found
}

// imports are the functions of other files for which a file has slots that the dynamic linker fills, by the addresses of these.
func (o *image) imports() map[arch.Addr]string {
	// A file without these sections has none; damaged ones end the list.
	symbols, _, _ := o.file.Section(".dynsym")
	names, _, _ := o.file.Section(".dynstr")
	order, found := o.file.Order(), make(map[arch.Addr]string)
	for _, section := range []string{".rela.plt", ".rela.dyn"} {
		entries, _, _ := o.file.Section(section)
		for ; len(entries) >= elf.Sym64Size; entries = entries[elf.Sym64Size:] {
			// Each has the address of the slot, the type with the number of a symbol, and an addend.
			info, slot := order.Uint64(entries[8:]), arch.Addr(order.Uint64(entries))
			at := uint64(elf.R_SYM64(info)) * elf.Sym64Size
			if !o.file.Arch().FillsSlot(elf.R_TYPE64(info)) || at == 0 || at+elf.Sym64Size > uint64(len(symbols)) {
				continue
			}
			// What is in a slot of the GOT may be a variable, which nobody calls.
			symbol := symbols[at:]
			name := uint64(order.Uint32(symbol))
			if isData := elf.ST_TYPE(symbol[4]) == elf.STT_OBJECT; isData || name >= uint64(len(names)) {
				continue
			}
			text, _, _ := bytes.Cut(names[name:], []byte{0})
			found[slot] = string(text)
		}
	}
	return found
}
