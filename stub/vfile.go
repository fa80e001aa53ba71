package stub

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/target"
)

// openFiles are the files that a client has open, by descriptor, and the process whose file system it looks at.
type openFiles struct {
	pid   int           // of vFile:setfs; 0 for the server's own files
	files []target.File // nil where a descriptor is free
}

// maxFiles is how many files a client may have open.
const maxFiles = 1024

// add gives a file the lowest free descriptor.
func (o *openFiles) add(f target.File) int {
	for fd, other := range o.files {
		if other == nil {
			o.files[fd] = f
			return fd
		}
	}
	o.files = append(o.files, f)
	return len(o.files) - 1
}

// full reports whether there is no descriptor left.
func (o *openFiles) full() bool {
	free := maxFiles - len(o.files)
	for _, f := range o.files {
		if f == nil {
			free++
		}
	}
	return free <= 0
}

// closeAll closes what the client has left open.
func (o *openFiles) closeAll() {
	for _, f := range o.files {
		if f != nil {
			f.Close()
		}
	}
	o.files = nil
}

// setFiles is vFile:setfs.
func (x *session) setFiles(pid int) ([]byte, error) {
	x.open.pid = pid
	return fileResult(0), nil
}

// openFile is vFile:open.
func (x *session) openFile(o request.FileOpen) ([]byte, error) {
	if x.open.full() {
		return fileFailure(target.EMFILE), nil
	}
	how, ok := openFlags(o.Flags)
	if !ok {
		return fileFailure(target.EINVAL), nil
	}
	f, err := x.target.Files().Open(x.open.pid, o.Path, how, fs.FileMode(o.Mode)&fs.ModePerm)
	if err != nil {
		return fileFailure(err), nil
	}
	return fileResult(x.open.add(f)), nil
}

// openFlagBits are the flags of File-I/O for opening, beside the ways of access (GDB manual, Open Flags).
var openFlagBits = map[uint64]int{0x8: os.O_APPEND, 0x200: os.O_CREATE, 0x400: os.O_TRUNC, 0x800: os.O_EXCL}

// openFlags puts the flags of File-I/O into those of package os.
func openFlags(flags uint64) (how int, ok bool) {
	const access = 3
	ways := map[uint64]int{0: os.O_RDONLY, 1: os.O_WRONLY, 2: os.O_RDWR}
	how, ok = ways[flags&access]
	flags &^= access
	for bit, flag := range openFlagBits {
		if flags&bit != 0 {
			how |= flag
			flags &^= bit
		}
	}
	return how, ok && flags == 0
}

// file returns the file of a descriptor, which is not negative, or nil if it is not open.
func (o *openFiles) file(descriptor int) target.File {
	if descriptor >= len(o.files) {
		return nil
	}
	return o.files[descriptor]
}

// closeFile is vFile:close.
func (x *session) closeFile(fd int) ([]byte, error) {
	f := x.open.file(fd)
	if f == nil {
		return fileFailure(target.EBADF), nil
	}
	x.open.files[fd] = nil
	if err := f.Close(); err != nil {
		return fileFailure(err), nil
	}
	return fileResult(0), nil
}

// readFile is vFile:pread. It reads no more than fits into the reply.
func (x *session) readFile(r request.FileRead) ([]byte, error) {
	f := x.open.file(r.Descriptor)
	if f == nil {
		return fileFailure(target.EBADF), nil
	}
	const header = len("F20000;")
	b := make([]byte, min(r.Count, uint64(x.packetSize-header)))
	n, err := f.ReadAt(b, r.Offset)
	if n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return fileFailure(err), nil
	}
	return fileContent(b[:x.fit(b[:n], header)]), nil
}

// writeFile is vFile:pwrite.
func (x *session) writeFile(w request.FileWrite) ([]byte, error) {
	f := x.open.file(w.Descriptor)
	if f == nil {
		return fileFailure(target.EBADF), nil
	}
	n, err := f.WriteAt(w.Bytes, w.Offset)
	if n == 0 && err != nil {
		return fileFailure(err), nil
	}
	return fileResult(n), nil
}

// statOpenFile is vFile:fstat.
func (x *session) statOpenFile(fd int) ([]byte, error) {
	f := x.open.file(fd)
	if f == nil {
		return fileFailure(target.EBADF), nil
	}
	return statReply(f.Stat())
}

// statFile is vFile:stat, which follows a symbolic link, and statLink is vFile:lstat.
func (x *session) statFile(path string) ([]byte, error) {
	return statReply(x.target.Files().Stat(x.open.pid, path))
}

func (x *session) statLink(path string) ([]byte, error) {
	return statReply(x.target.Files().Lstat(x.open.pid, path))
}

// unlinkFile is vFile:unlink.
func (x *session) unlinkFile(path string) ([]byte, error) {
	if err := x.target.Files().Unlink(x.open.pid, path); err != nil {
		return fileFailure(err), nil
	}
	return fileResult(0), nil
}

// readLink is vFile:readlink.
func (x *session) readLink(path string) ([]byte, error) {
	link, err := x.target.Files().Readlink(x.open.pid, path)
	if err != nil {
		return fileFailure(err), nil
	}
	return fileContent([]byte(link)), nil
}

// fileResult is the reply of an operation that worked, fileContent that of one which returns bytes.
func fileResult(n int) []byte { return rsp.AppendHex([]byte{'F'}, uint64(n)) }

func fileContent(b []byte) []byte { return append(append(fileResult(len(b)), ';'), b...) }

// fileFailure is the reply of an operation that did not work.
func fileFailure(err error) []byte {
	reason := target.EUNKNOWN
	errors.As(err, &reason)
	return fmt.Appendf(nil, "F-1,%x", int(reason))
}

// statReply is a struct stat as File-I/O has it (GDB manual, struct stat): big-endian, 4 bytes each but for the sizes.
func statReply(s target.FileStat, err error) ([]byte, error) {
	if err != nil {
		return fileFailure(err), nil
	}
	var b []byte
	order := binary.BigEndian
	for _, v := range []uint32{
		uint32(s.Device), uint32(s.Inode), fileMode(s.Mode), uint32(s.Links), s.UID, s.GID, uint32(s.Special),
	} {
		b = order.AppendUint32(b, v)
	}
	for _, v := range []int64{s.Size, s.BlockSize, s.Blocks} {
		b = order.AppendUint64(b, uint64(v))
	}
	for _, t := range []time.Time{s.Accessed, s.Modified, s.Changed} {
		b = order.AppendUint32(b, fileTime(t))
	}
	return fileContent(b), nil
}

// fileTime is a time_t of File-I/O: seconds since 1970, 0 for a time that is not known.
func fileTime(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(t.Unix())
}

// fileTypes are the types of files that File-I/O tells apart (GDB manual, mode_t Values; the link is of GDB 17).
var fileTypes = map[fs.FileMode]uint32{
	0: 0o100000, fs.ModeDir: 0o040000, fs.ModeDevice | fs.ModeCharDevice: 0o020000, fs.ModeSymlink: 0o120000,
}

// fileMode is a mode_t of File-I/O.
func fileMode(mode fs.FileMode) uint32 { return fileTypes[mode.Type()] | uint32(mode.Perm()) }
