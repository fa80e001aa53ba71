package stub

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/sdt"
	"tracewell/target"
	"tracewell/tdesc"
)

// markers caches the static tracepoint markers of a process: the probes in the notes of its program and of every library that it
// has loaded, at their addresses in memory.
//
// GDB asks for markers at every change of its breakpoints, so the list is rebuilt only when the program or the link map has
// changed, and a file is parsed again only when its inode, size or time has.
type markers struct {
	of    markedProcess
	valid bool // of and list go together
	list  []*marker
	files map[string]markedFile
}

// markedProcess is what a list of markers depends on.
type markedProcess struct {
	pid     int
	program string
	entry   arch.Addr // where the program started, 0 if not known
	objects []inferior.LinkObject
}

func (p markedProcess) equal(other markedProcess) bool {
	return p.pid == other.pid && p.program == other.program && p.entry == other.entry && slices.Equal(p.objects, other.objects)
}

// markedFile is a file that has been read.
type markedFile struct {
	stat   target.FileStat
	object *sdt.Object
}

// marker is an address with at least one probe.
type marker struct {
	addr   arch.Addr
	bias   arch.Addr // of the object that it is in
	probes []sdt.Probe

	thread    probedThread
	evaluator sdt.Evaluator
}

// hasMarkers reports whether the target supports what markers need: the files of a process by name, and their content.
func hasMarkers(s *Server) bool {
	return tracer.has(s) && files.has(s) && execFile.has(s)
}

// markersOf lists the markers of a process by address. A file that cannot be read has none: a library may have been deleted since
// the process loaded it.
func (s *Server) markersOf(pid int) ([]*marker, error) {
	of, err := s.markedProcess(pid)
	if err != nil {
		return nil, err
	}
	m := &s.markers
	// The link map is compared as a whole: dlopen and dlclose between two stops may leave as many entries as before.
	if m.valid && m.of.equal(of) {
		return m.list, nil
	}
	layout, err := s.registers()
	if err != nil {
		return nil, err
	}
	if m.files == nil {
		m.files = make(map[string]markedFile)
	}
	// Two probes at one address are one marker: GDB sets a tracepoint by address.
	at := make(map[arch.Addr]*marker)
	thread := probedThread{layout: layout, order: s.target.ISA().Order}
	// A program without notes has no markers of its own, but its libraries may (libc, libstdc++ and libpthread of glibc
	// have).
	if object := s.markedObject(pid, of.program); object != nil {
		addMarkers(at, thread, object, of.bias(object))
	}
	for _, o := range of.objects {
		if object := s.markedObject(pid, o.Name); object != nil {
			addMarkers(at, thread, object, o.Addr)
		}
	}
	m.list = slices.Collect(maps.Values(at))
	slices.SortFunc(m.list, func(a, b *marker) int { return cmp.Compare(a.addr, b.addr) })
	m.of, m.valid = of, true
	return m.list, nil
}

// markedProcess reads the files of a process. The link map is empty until the dynamic linker has run, so the bias of the program
// itself comes from the auxiliary vector.
func (s *Server) markedProcess(pid int) (markedProcess, error) {
	of := markedProcess{pid: pid}
	var err error
	if of.program, err = s.target.ExecFile().ReadExecFile(pid); err != nil {
		return of, err
	}
	// AT_ENTRY less the entry point of the file is the bias of a position-independent program. Without auxv it is taken for
	// fixed.
	if s.target.Auxv() != nil {
		space, err := target.ProgramSpace(s.target, pid)
		if err != nil {
			return of, err
		}
		of.entry = space.Entry()
	}
	libraries := s.target.Libraries()
	// A target without a list of libraries still has the markers of the program.
	if libraries == nil {
		return of, nil
	}
	links, err := libraries.ReadLibraries(pid)
	if err != nil {
		return of, err
	}
	of.objects = slices.Collect(links.Libraries())
	return of, nil
}

// bias is the difference between where the program is loaded and where it was linked for.
func (p markedProcess) bias(program *sdt.Object) arch.Addr {
	if p.entry == 0 {
		return 0
	}
	return p.entry - program.Entry
}

// markedObject reads a file, nil if it cannot be read.
func (s *Server) markedObject(pid int, path string) *sdt.Object {
	// Files are read as the process sees them: it may be in another mount namespace.
	stat, err := s.target.Files().Stat(pid, path)
	if err != nil {
		return nil
	}
	if f, ok := s.markers.files[path]; ok && f.same(stat) {
		return f.object
	}
	file, err := s.target.Files().Open(pid, path, 0, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	// A file that is no ELF file, or a damaged one, counts as one without probes, and is not read again until it changes.
	object, _ := sdt.Read(file)
	s.markers.files[path] = markedFile{stat, object}
	return object
}

// same reports whether a file is the one that has been read.
func (f markedFile) same(now target.FileStat) bool {
	return f.stat.Device == now.Device && f.stat.Inode == now.Inode && f.stat.Size == now.Size &&
		f.stat.Modified.Equal(now.Modified)
}

// addMarkers puts the probes of an object into a table by address.
func addMarkers(at map[arch.Addr]*marker, thread probedThread, object *sdt.Object, bias arch.Addr) {
	for _, p := range object.Probes {
		// sdt.Read has undone prelinking (.stapsdt.base), so one bias holds for all notes of the file.
		addr := p.PC + bias
		mk := at[addr]
		if mk == nil {
			mk = &marker{addr: addr, bias: bias, thread: thread}
			at[addr] = mk
		}
		mk.probes = append(mk.probes, p)
	}
}

// markerAt finds the marker of an address, nil if there is none.
func (s *Server) markerAt(pid int, addr arch.Addr) (*marker, error) {
	list, err := s.markersOf(pid)
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(list, addr, func(m *marker, addr arch.Addr) int { return cmp.Compare(m.addr, addr) })
	if !ok {
		return nil, nil
	}
	return list[i], nil
}

// AppendStatic implements tracepoint.Marker: the arguments of the probes at the address, which are all but always one.
func (m *marker) AppendStatic(dst []byte, s target.Snapshot) []byte {
	// Registers and memory are those of this hit only.
	m.thread.begin(s)
	defer m.thread.begin(nil)
	start := len(dst)
	for _, p := range m.probes {
		if len(dst) > start && len(p.Arguments) > 0 {
			dst = append(dst, "; "...)
		}
		dst = m.evaluator.AppendText(dst, p.Arguments, &m.thread, m.bias)
	}
	return dst
}

// Semaphores implements tracepoint.Marker.
func (m *marker) Semaphores() []arch.Addr {
	var addrs []arch.Addr
	for _, p := range m.probes {
		// A semaphore is a counter of 16 bits that the program tests before it prepares a probe's arguments; several probes
		// may share one.
		if at := p.Semaphore + m.bias; p.Semaphore != 0 && !slices.Contains(addrs, at) {
			addrs = append(addrs, at)
		}
	}
	return addrs
}

// probedThread is a thread at a marker, whose registers and memory the arguments of probes read.
type probedThread struct {
	layout   *tdesc.Layout
	order    arch.ByteOrder
	snapshot target.Snapshot
	block    []byte // all registers, for those wider than eight bytes; empty until one is wanted
}

func (t *probedThread) begin(s target.Snapshot) { t.snapshot, t.block = s, t.block[:0] }

// Register implements sdt.Env.
func (t *probedThread) Register(name string) (uint64, bool) {
	slot := t.layout.ByName(name)
	switch {
	case slot == nil:
		return 0, false
	// The engine has these at hand; a wider one, such as a vector register of which an argument is a lane, takes the whole
	// block.
	case slot.Size <= 8:
		v, err := t.snapshot.Register(slot.Reg.Num)
		return v, err == nil
	}
	if len(t.block) == 0 {
		t.block = slices.Grow(t.block, t.layout.Size)[:t.layout.Size]
		if t.snapshot.Registers(t.block) != nil {
			t.block = t.block[:0]
			return 0, false
		}
	}
	return arch.Uint(scalar(t.block[slot.Offset:slot.Offset+slot.Size], t.order), t.order), true
}

// scalar is the part of a register of more than eight bytes that holds a scalar, the least significant eight.
func scalar(b []byte, order arch.ByteOrder) []byte {
	if order == binary.BigEndian {
		return b[len(b)-8:]
	}
	return b[:8]
}

// ReadMemory implements sdt.Env.
func (t *probedThread) ReadMemory(addr arch.Addr, p []byte) int {
	return t.snapshot.ReadMemory(addr, p)
}
