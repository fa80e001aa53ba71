package symbol

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"

	"tracewell/arch"
)

// libraryFolders are where the dynamic linker looks last, on systems for one machine and on those for several (multiarch).
func libraryFolders(file *elf.File) []string {
	folders := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	addrSize := map[elf.Class]int{elf.ELFCLASS32: 4, elf.ELFCLASS64: 8}[file.Class]
	if m := arch.ByELF(file.Machine, addrSize); m != nil && m.Multiarch != "" {
		return append([]string{"/lib/" + m.Multiarch, "/usr/lib/" + m.Multiarch}, folders...)
	}
	return folders
}

// Libraries returns the paths of the shared libraries that a program says it needs, as far as they are found where the dynamic
// linker would look for them without being told by the environment.
func Libraries(program string) []string {
	file, err := elf.Open(program)
	if err != nil {
		return nil
	}
	defer file.Close()
	needed, _ := file.ImportedLibraries() // none in a damaged file
	var folders []string
	// This is the order of ld.so(8) without LD_LIBRARY_PATH and the cache: what matters is to have some file of the name, whose
	// functions complete a command line or are listed, before the program runs. A run asks the dynamic linker itself.
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, _ := file.DynString(tag)
		for _, list := range paths {
			folders = append(folders, strings.Split(list, ":")...)
		}
	}
	folders = append(folders, libraryFolders(file)...)
	origin := filepath.Dir(program)
	var found []string
	for _, name := range needed {
		for _, folder := range folders {
			path := filepath.Join(strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(folder), name)
			if _, err := os.Stat(path); err == nil {
				found = append(found, path)
				break
			}
		}
	}
	return found
}
