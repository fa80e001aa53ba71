//go:build linux

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tracewell/internal/sys"
	"tracewell/record"
)

// Ahead implements record.Host by the files that the first process has mapped. Of a program that is to be launched nothing is
// known.
func (h *host) Ahead() []string {
	if len(h.config.PIDs) == 0 {
		return nil
	}
	pid := h.config.PIDs[0]
	program, err := sys.Executable(pid)
	if err != nil {
		return nil
	}
	mappings, err := sys.Mappings(pid)
	if err != nil {
		return nil
	}
	files := []string{Readable(pid, program)}
	// A library has several mappings, one for each of its segments.
	seen := map[string]bool{program: true}
	for _, m := range mappings {
		// Other names are the kernel's, such as [vdso] and [stack].
		if strings.HasPrefix(m.Path, "/") && !seen[m.Path] {
			seen[m.Path] = true
			files = append(files, m.Path)
		}
	}
	return files
}

// Executable implements record.Host.
func (h *host) Executable(pid int) (record.Executable, error) {
	path, err := h.on.ReadExecFile(pid)
	return record.Executable{Path: path, File: Readable(pid, path)}, err
}

// Readable is where a process's program can be read: by its path or, if that leads to another file because the process is in a
// container or the file was replaced, by the kernel's link to the one that it executes.
func Readable(pid int, path string) string {
	// The path of the file itself is better than the link: separate debug files are looked for beside it.
	if seen := fmt.Sprintf("/proc/%d/exe", pid); !sameFile(path, seen) {
		return seen
	}
	return path
}

// Library implements record.Host: through the root of the process if the path leads elsewhere from here, as for one in a container.
func (h *host) Library(pid int, name string) string {
	within := fmt.Sprintf("/proc/%d/root%s", pid, name)
	if !filepath.IsAbs(name) {
		within = fmt.Sprintf("/proc/%d/cwd/%s", pid, name)
	}
	if sameFile(name, within) {
		return name
	}
	return within
}

// Origin implements record.Host: nothing is copied.
func (h *host) Origin(file string) string { return file }

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
