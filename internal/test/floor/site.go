//go:build linux

package floor

import (
	"debug/elf"
	"fmt"
	"slices"

	"tracewell/arch"
)

// Site is a place in a program that is linked to a fixed address.
type Site struct {
	PC     arch.Addr // where the trap goes; the instruction there must be one that can be emulated
	Memory arch.Addr // what a hit reads
}

// MemorySize is how many bytes a hit reads.
const MemorySize = 16

// Locate finds the site at the beginning of a function that reads a variable, both by their symbols in the executable.
func Locate(path, function, variable string) (Site, error) {
	file, err := elf.Open(path)
	if err != nil {
		return Site{}, err
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return Site{}, fmt.Errorf("symbols of %s: %w", path, err)
	}
	find := func(name string) arch.Addr {
		i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
		if i < 0 {
			err = fmt.Errorf("%s has no symbol %q", path, name)
			return 0
		}
		return arch.Addr(symbols[i].Value)
	}
	site := Site{PC: find(function), Memory: find(variable)}
	return site, err
}
