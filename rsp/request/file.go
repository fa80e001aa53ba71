package request

import (
	"math"

	"tracewell/rsp"
)

// Packets of File-I/O: files of the stub's machine.
var (
	SetFileSystem = process("vFile:setfs:")
	OpenFile      = form("vFile:open:", "HEXPATH,FLAGS,MODE", openFile)
	CloseFile     = form("vFile:close:", "DESCRIPTOR", descriptor)
	ReadFile      = form("vFile:pread:", "DESCRIPTOR,COUNT,OFFSET", fileRead)
	WriteFile     = binary("vFile:pwrite:", "DESCRIPTOR,OFFSET,BINARY", fileWrite)
	StatOpenFile  = form("vFile:fstat:", "DESCRIPTOR", descriptor)
	StatFile      = hexText("vFile:stat:", "HEXPATH")
	StatLink      = hexText("vFile:lstat:", "HEXPATH")
	UnlinkFile    = hexText("vFile:unlink:", "HEXPATH")
	ReadLink      = hexText("vFile:readlink:", "HEXPATH")

	// FileResult answers a request of the program about files of the client's machine, which came in place of a stop.
	FileResult = binary("F", "RESULT[,ERRNO[,C]][;ATTACHMENT]", rsp.Rest[string])
)

// DeclinedFile is the FileResult that there is no such call: -1, and ENOSYS by its number in File-I/O.
const DeclinedFile = "-1,58"

// FileOpen names a file, with flags and mode as File-I/O has them (GDB manual, Open Flags and mode_t Values).
type FileOpen struct {
	Path        string
	Flags, Mode uint64
}

func openFile(f *rsp.Fields, o *FileOpen) {
	// Without digits it is the empty path, which a server refuses as the kernel does.
	rsp.HexBytes(f, &o.Path)
	f.Literal(',')
	rsp.Hex(f, &o.Flags, math.MaxUint64)
	f.Literal(',')
	rsp.Hex(f, &o.Mode, math.MaxUint64)
}

// descriptor is a file that is open. GDB never sends a negative one.
func descriptor(f *rsp.Fields, fd *int) { rsp.Hex(f, fd, math.MaxInt32) }

// FileRead asks for bytes of an open file.
type FileRead struct {
	Descriptor int
	Count      uint64
	Offset     int64
}

func fileRead(f *rsp.Fields, r *FileRead) {
	descriptor(f, &r.Descriptor)
	f.Literal(',')
	rsp.Hex(f, &r.Count, math.MaxUint64)
	f.Literal(',')
	rsp.Hex(f, &r.Offset, math.MaxInt64)
}

// FileWrite is bytes for an open file.
type FileWrite struct {
	Descriptor int
	Offset     int64
	Bytes      []byte
}

func fileWrite(f *rsp.Fields, w *FileWrite) {
	descriptor(f, &w.Descriptor)
	f.Literal(',')
	rsp.Hex(f, &w.Offset, math.MaxInt64)
	f.Literal(',')
	// All bytes up to the end of the packet: there is no length.
	rsp.Rest(f, &w.Bytes)
}
