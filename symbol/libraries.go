package symbol

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// libraryFolders are where the dynamic linker looks last, on the distributions that people use.
var libraryFolders = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}

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
	origin := filepath.Dir(program)
	var found []string
	for _, name := range needed {
		for _, folder := range append(folders, libraryFolders...) {
			path := filepath.Join(strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(folder), name)
			if _, err := os.Stat(path); err == nil {
				found = append(found, path)
				break
			}
		}
	}
	return found
}
