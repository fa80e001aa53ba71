package packed

import (
	"bytes"
	"os"
	"slices"
)

// inMemory is how much unpacked content is kept in memory. It changes in tests only.
var inMemory = 64 << 20

// A spool takes content of unknown length: into memory, and when that is enough all of it into a file without a name, which
// is gone when it is closed or the process ends, however that comes about.
type spool struct {
	mem  []byte
	disk *os.File
	size int64
	err  error // of writing to disk

	progress func() // called about every step bytes
	told     int64
}

// step is how many bytes are taken between two calls of progress.
const step = 1 << 20

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	if s.disk == nil && len(s.mem)+len(p) > inMemory {
		s.err = s.spill()
	}
	if s.err != nil {
		return 0, s.err
	}
	s.size += int64(len(p))
	if s.size-s.told >= step {
		s.told = s.size
		s.progress()
	}
	if s.disk == nil {
		if len(p) > cap(s.mem)-len(s.mem) {
			s.mem = slices.Grow(s.mem, max(len(p), cap(s.mem))) // append would take smaller steps, and more garbage
		}
		s.mem = append(s.mem, p...)
		return len(p), nil
	}
	var n int
	n, s.err = s.disk.Write(p)
	return n, s.err
}

// spill moves what is in memory to disk.
func (s *spool) spill() error {
	var err error
	if s.disk, err = nameless(); err != nil {
		return err
	}
	_, err = s.disk.Write(s.mem)
	s.mem = nil
	return err
}

// nameless creates a file and takes its name away. Without TMPDIR it is in /var/tmp, which is a disk where /tmp is memory.
func nameless() (*os.File, error) {
	folder := os.TempDir()
	if os.Getenv("TMPDIR") == "" && exists("/var/tmp") {
		folder = "/var/tmp"
	}
	f, err := os.CreateTemp(folder, "tracewell-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

func exists(folder string) bool {
	status, err := os.Stat(folder)
	return err == nil && status.IsDir()
}

// file returns what was taken.
func (s *spool) file(method *Method) *File {
	if s.disk != nil {
		return &File{ReaderAt: s.disk, Method: method, size: s.size, unpack: s.disk}
	}
	if s.mem == nil {
		s.mem = []byte{} // nothing at all is in memory, too
	}
	return &File{ReaderAt: bytes.NewReader(s.mem), Method: method, size: s.size, mem: s.mem}
}

// discard gives up what was taken.
func (s *spool) discard() error {
	if s.disk == nil {
		return nil
	}
	return s.disk.Close()
}
