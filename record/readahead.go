//go:build linux && amd64

package record

import (
	"os"
	"path/filepath"
	"strings"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/record/definition"
	"tracewell/trace"
)

// readAhead reads what attaching to a process will need of files while that still runs, for reading takes longer than anything
// else for which it has to stand still. What fails here is told when it is done in earnest.
func (s *Session) readAhead(pid int) {
	path, err := sys.Executable(pid)
	if err != nil {
		return
	}
	program, err := s.openProgram(pid, path)
	if err != nil {
		return
	}
	mappings, err := sys.Mappings(pid)
	if err != nil {
		return
	}
	// A library has several mappings, one for each of its segments.
	seen := map[string]bool{path: true}
	for _, m := range mappings {
		// Other names are the kernel's, such as [vdso] and [stack].
		if strings.HasPrefix(m.Path, "/") && !seen[m.Path] && isFile(m.Path) {
			seen[m.Path] = true
			_, _ = program.Add(m.Path, 0) // what is no library has no names either way
		}
	}
	// Finding the locations once has every line table and scope parsed that the plan needs.
	rehearsal := definition.New(s.config.Plan, s.layout, s.target.ISA(), trace.ProcessIDName, trace.ThreadIDName)
	_, _, _ = rehearsal.Find(definition.Image{Program: program, Sites: make(map[arch.Addr]bool)})
}

// isFile reports whether there is an ELF file of that name.
func isFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.Read(magic[:])
	return err == nil && string(magic[:]) == "\x7fELF"
}

// realPath is the path of a file without symbolic links, by which it is known however it is called.
func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
