package stub

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"tracewell/rsp/reply"
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
	// As open(2) does: clients that leak nothing see small numbers.
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

// onFile answers a packet about files. An error of the function is the reply, too: F-1 and its number.
func onFile[A any](f *request.Form[A], replies string, do func(*session, A) (reply.Result, error)) call {
	c := on(f, reply.File, func(x *session, a A) (reply.Result, error) {
		r, err := do(x, a)
		if err != nil {
			reason := target.EUNKNOWN
			errors.As(err, &reason)
			r = reply.Result{Failed: true, Errno: int(reason)}
		}
		return r, nil
	})
	c.reply, c.always = replies+" or F-1,ERRNO", "ERRNO"
	return c
}

// content is the result of an operation that returns bytes: their number in front of them.
func content(b []byte) reply.Result {
	return reply.Result{Number: int64(len(b)), Has: true, Content: b}
}

// setFiles is vFile:setfs.
func (x *session) setFiles(pid int) ([]byte, error) {
	x.open.pid = pid
	return reply.File.Append(nil, reply.Result{}), nil
}

// openFile is vFile:open.
func (x *session) openFile(o request.FileOpen) (opened reply.Result, err error) {
	if x.open.full() {
		return opened, target.EMFILE
	}
	// File-I/O has flags of its own, which happen to be those of newlib.
	how, ok := openFlags(o.Flags)
	if !ok {
		return opened, target.EINVAL
	}
	f, err := x.target.Files().Open(x.open.pid, o.Path, how, fs.FileMode(o.Mode)&fs.ModePerm)
	if err == nil {
		opened.Number = int64(x.open.add(f))
	}
	return opened, err
}

// openFlagBits are the flags of File-I/O for opening, beside the ways of access (GDB manual, Open Flags).
var openFlagBits = map[uint64]int{0x8: os.O_APPEND, 0x200: os.O_CREATE, 0x400: os.O_TRUNC, 0x800: os.O_EXCL}

// openFlags puts the flags of File-I/O into those of package os.
func openFlags(flags uint64) (how int, ok bool) {
	const access = 3
	ways := map[uint64]int{0: os.O_RDONLY, 1: os.O_WRONLY, 2: os.O_RDWR}
	how, ok = ways[flags&access]
	// What is left must be bits that are known: an unknown one might ask for safety that the file would not have.
	flags &^= access
	for bit, flag := range openFlagBits {
		if flags&bit != 0 {
			how |= flag
			flags &^= bit
		}
	}
	return how, ok && flags == 0
}

// file returns the file of a descriptor, which is not negative.
func (o *openFiles) file(descriptor int) (target.File, error) {
	if descriptor >= len(o.files) || o.files[descriptor] == nil {
		return nil, target.EBADF
	}
	return o.files[descriptor], nil
}

// closeFile is vFile:close.
func (x *session) closeFile(fd int) (done reply.Result, err error) {
	f, err := x.open.file(fd)
	if err != nil {
		return done, err
	}
	// Closed whatever Close says, as the kernel has it.
	x.open.files[fd] = nil
	return done, f.Close()
}

// readFile is vFile:pread. It reads no more than fits into the reply. An error behind some bytes is left to the next read.
func (x *session) readFile(r request.FileRead) (read reply.Result, err error) {
	f, err := x.open.file(r.Descriptor)
	if err != nil {
		return read, err
	}
	const header = len("F20000;")
	b := make([]byte, min(r.Count, uint64(x.packetSize-header)))
	n, err := f.ReadAt(b, r.Offset)
	if n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return read, err
	}
	return content(b[:x.fit(b[:n], header)]), nil
}

// writeFile is vFile:pwrite.
func (x *session) writeFile(w request.FileWrite) (written reply.Result, err error) {
	f, err := x.open.file(w.Descriptor)
	if err != nil {
		return written, err
	}
	n, err := f.WriteAt(w.Bytes, w.Offset)
	if n > 0 {
		err = nil
	}
	return reply.Result{Number: int64(n)}, err
}

// statOpenFile is vFile:fstat.
func (x *session) statOpenFile(fd int) (reply.Result, error) {
	f, err := x.open.file(fd)
	if err != nil {
		return reply.Result{}, err
	}
	return statReply(f.Stat())
}

// statFile is vFile:stat, which follows a symbolic link, and statLink is vFile:lstat.
func (x *session) statFile(path string) (reply.Result, error) {
	return statReply(x.target.Files().Stat(x.open.pid, path))
}

func (x *session) statLink(path string) (reply.Result, error) {
	return statReply(x.target.Files().Lstat(x.open.pid, path))
}

// unlinkFile is vFile:unlink.
func (x *session) unlinkFile(path string) (done reply.Result, err error) {
	return done, x.target.Files().Unlink(x.open.pid, path)
}

// readLink is vFile:readlink.
func (x *session) readLink(path string) (reply.Result, error) {
	link, err := x.target.Files().Readlink(x.open.pid, path)
	return content([]byte(link)), err
}

// statReply is a struct stat as File-I/O has it (GDB manual, struct stat): big-endian, 4 bytes each but for the sizes.
func statReply(s target.FileStat, err error) (reply.Result, error) {
	if err != nil {
		return reply.Result{}, err
	}
	var b []byte
	// The order of the wire, whatever that of the machine is. Numbers that do not fit 32 bits are cut, as in gdbserver.
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
	return content(b), nil
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
