package left

import (
	"path/filepath"
	"strconv"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/rsp/client"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tfile"
)

// objects are comments for the trace file that say where the files of the process lie. The process may be gone, or its stub not say
// what it is; the frames are good without.
func (f *fetcher) objects() (list []string, err error) {
	thread, err := client.Do(f.c, client.Ask(request.CurrentThread, request.None{}, reply.Current))
	if err != nil {
		return nil, err
	}
	f.pid = thread.PID
	path, err := f.program()
	if err != nil {
		return nil, err
	}
	// The bias of the program comes from its headers in memory, so that its file need not be here.
	space, err := inferior.New(process{f.c}, f.isa)
	if err != nil {
		return nil, err
	}
	bias, err := space.BiasByHeaders()
	if err != nil {
		return nil, err
	}
	note := func(path string, bias arch.Addr) {
		if line := (tfile.Object{Path: path, Bias: bias}).Comment(); line != "" {
			list = append(list, line)
		}
	}
	note(path, bias)
	links, err := space.LinkMap()
	for o := range links.Libraries() {
		note(o.Name, o.Addr)
	}
	return list, err
}

// program is the path of the program.
func (f *fetcher) program() (string, error) {
	if f.Program != "" {
		return filepath.Abs(f.Program)
	}
	path, err := f.c.Transfer("exec-file", strconv.FormatInt(int64(f.pid), 16), mostObject)
	return string(path), err
}

// mostObject is the most bytes of an object that is read.
const mostObject = 1 << 20

// process is the stub's as package inferior reads it.
type process struct{ c *client.Client }

// ReadMemory implements inferior.Process.
func (p process) ReadMemory(addr arch.Addr, b []byte) (int, error) {
	there, err := p.c.ReadMemory(addr, len(b))
	return copy(b, there), err
}

// ReadAuxv implements inferior.Process.
func (p process) ReadAuxv() ([]byte, error) { return p.c.Transfer("auxv", "", mostObject) }

// Open implements inferior.Process: no file is needed of a process that runs.
func (process) Open(string) (inferior.File, error) { return nil, target.ErrUnsupported }
