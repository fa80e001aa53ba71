package record

import (
	"os"
	"path/filepath"

	"tracewell/arch"
	"tracewell/record/definition"
	"tracewell/trace"
)

// readAhead reads what attaching to a process will need of files, of which the first is the program, while that still runs: reading
// takes longer than anything else for which it has to stand still. What fails here is told when it is done in earnest.
func (s *Session) readAhead(files []string) {
	if len(files) == 0 {
		return
	}
	program, err := s.openProgram(files[0])
	if err != nil {
		return
	}
	for _, path := range files[1:] {
		if isFile(path) {
			_, _ = program.Add(path, 0) // what is no library has no names either way
		}
	}
	// Finding the locations once has every line table and scope parsed that the plan needs.
	rehearsal := definition.New(s.config.Plan, s.layout, s.target.ISA(), trace.ProcessIDName, trace.ThreadIDName,
		trace.NanosecondsName)
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
