package replay

import (
	"io/fs"
	"os"
	"slices"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/target"
)

// Auxv implements target.Groups. It is by the entry point in the auxiliary vector that GDB finds out where a program lies.
func (t *TraceTarget) Auxv() target.Auxv {
	if p := t.file.program; p == nil || !p.placed {
		return nil
	}
	return t
}

// nowhere is an address of 64 bits where no program of any Linux has memory. If nobody knows where the dynamic linker was, and
// GDB 13 is not told either, it takes for granted that a program which stops stands at the linker's first instruction; then it
// has names of the linker for addresses of the program. With addresses of 32 bits there is no such place but page 0.
const nowhere arch.Addr = 1 << 62

// ReadAuxv implements target.Auxv.
func (t *TraceTarget) ReadAuxv(int) ([]byte, error) {
	linker, known := t.file.linker()
	if !known && t.file.isa.AddrSize >= 8 {
		linker = nowhere
	}
	return inferior.AppendAuxv(nil, t.file.isa,
		inferior.AuxvEntry{Type: inferior.AtEntry, Value: t.file.program.start()},
		inferior.AuxvEntry{Type: inferior.AtBase, Value: linker}), nil
}

// ExecFile implements target.Groups.
func (t *TraceTarget) ExecFile() target.ExecFile {
	if t.file.program == nil {
		return nil
	}
	return t
}

// ReadExecFile implements target.ExecFile.
func (t *TraceTarget) ReadExecFile(int) (string, error) { return t.file.program.path, nil }

// ReadOnly implements target.Groups.
func (t *TraceTarget) ReadOnly() target.ReadOnly { return unchanging{t} }

// unchanging answers target.ReadOnly.
type unchanging struct{ t *TraceTarget }

// ReadOnly implements target.ReadOnly.
func (u unchanging) ReadOnly(_ target.ThreadID, addr arch.Addr, n int) bool {
	return u.t.readOnly(addr, n)
}

// Files implements target.Groups: of all files there are the program's and those of its libraries, to read, with the debugging
// information that these have in files of their own.
func (t *TraceTarget) Files() target.Files {
	if t.file.program == nil {
		return nil
	}
	return programFiles(slices.Concat([]*program{t.file.program}, t.file.libraries, t.file.separate))
}

// programFiles is a file system with just these files.
type programFiles []*program

// named finds a file by its path, or by another that leads to it, as programs name the dynamic linker by.
func (f programFiles) named(path string) (openedProgram, error) {
	asked, err := os.Stat(path)
	for _, p := range f {
		if p.path == path {
			return openedProgram{p}, nil
		}
		if info, failed := p.file.Stat(); err == nil && failed == nil && os.SameFile(asked, info) {
			return openedProgram{p}, nil
		}
	}
	return openedProgram{}, target.ENOENT
}

// Open implements target.Files.
func (f programFiles) Open(_ int, path string, flags int, _ fs.FileMode) (target.File, error) {
	if flags&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, target.EROFS
	}
	file, err := f.named(path)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Stat implements target.Files.
func (f programFiles) Stat(_ int, path string) (target.FileStat, error) {
	p, err := f.named(path)
	if err != nil {
		return target.FileStat{}, err
	}
	return p.Stat()
}

// Lstat implements target.Files.
func (f programFiles) Lstat(pid int, path string) (target.FileStat, error) { return f.Stat(pid, path) }

// Unlink implements target.Files.
func (f programFiles) Unlink(int, string) error { return target.EROFS }

// Readlink implements target.Files.
func (f programFiles) Readlink(_ int, path string) (string, error) {
	if _, err := f.named(path); err != nil {
		return "", err
	}
	return "", target.EINVAL
}

// openedProgram is a file, which stays open when a client closes it.
type openedProgram struct{ *program }

// ReadAt implements io.ReaderAt.
func (f openedProgram) ReadAt(p []byte, offset int64) (int, error) { return f.file.ReadAt(p, offset) }

// WriteAt implements io.WriterAt.
func (f openedProgram) WriteAt([]byte, int64) (int, error) { return 0, target.EROFS }

// Close implements io.Closer.
func (f openedProgram) Close() error { return nil }

// Stat implements target.File.
func (f openedProgram) Stat() (target.FileStat, error) {
	info, err := f.file.Stat()
	if err != nil {
		return target.FileStat{}, target.EIO
	}
	return target.FileStat{Mode: info.Mode(), Links: 1, Size: info.Size(), Modified: info.ModTime()}, nil
}
