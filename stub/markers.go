package stub

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/sdt"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/tracepoint"
)

// markers is what is known of the static tracepoint markers of a process: the probes in the notes of its program and of every
// library that it has loaded, at the addresses where they are in it.
//
// A file is read once, and again when it is another by its inode, size or time. The list is made anew when the link map or the
// program has changed; GDB asks for markers at every change of its breakpoints.
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
	objects []target.LinkObject
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

// hasMarkers reports whether the target can tell which files a process consists of, and give them.
func hasMarkers(s *Server) bool {
	return tracer.has(s) && files.has(s) && execFile.has(s)
}

// markersOf lists the markers of a process by address. What cannot be read has none: the kernel's own object has no file,
// and a library may have been removed since.
func (s *Server) markersOf(pid int) ([]*marker, error) {
	of, err := s.markedProcess(pid)
	if err != nil {
		return nil, err
	}
	m := &s.markers
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
	at := make(map[arch.Addr]*marker)
	if object := s.markedObject(pid, of.program); object != nil {
		addMarkers(at, layout, object, of.bias(object))
	}
	for _, o := range of.objects {
		if object := s.markedObject(pid, o.Name); object != nil {
			addMarkers(at, layout, object, o.Addr)
		}
	}
	m.list = slices.Collect(maps.Values(at))
	slices.SortFunc(m.list, func(a, b *marker) int { return cmp.Compare(a.addr, b.addr) })
	m.of, m.valid = of, true
	return m.list, nil
}

// markedProcess looks at a process. The link map has the libraries only once the dynamic linker has run, so the place of the
// program itself is told from its entry point.
func (s *Server) markedProcess(pid int) (markedProcess, error) {
	of := markedProcess{pid: pid}
	var err error
	if of.program, err = s.target.ExecFile().ReadExecFile(pid); err != nil {
		return of, err
	}
	if auxv := s.target.Auxv(); auxv != nil {
		if of.entry, err = s.entry(auxv, pid); err != nil {
			return of, err
		}
	}
	libraries := s.target.Libraries()
	if libraries == nil {
		return of, nil
	}
	links, err := libraries.ReadLibraries(pid)
	if err != nil {
		return of, err
	}
	for _, o := range links.Objects {
		if o.LM != links.Main && o.Name != "" {
			of.objects = append(of.objects, o)
		}
	}
	return of, nil
}

// entry is AT_ENTRY of the auxiliary vector, pairs of words up to one of AT_NULL; 0 if there is none.
func (s *Server) entry(auxv target.Auxv, pid int) (arch.Addr, error) {
	const atEntry = 9
	b, err := auxv.ReadAuxv(pid)
	if err != nil {
		return 0, err
	}
	isa := s.target.ISA()
	word := func(b []byte) uint64 {
		if isa.AddrSize == 4 {
			return uint64(isa.Order.Uint32(b))
		}
		return isa.Order.Uint64(b)
	}
	for pair := 2 * isa.AddrSize; len(b) >= pair; b = b[pair:] {
		if word(b) == atEntry {
			return arch.Addr(word(b[isa.AddrSize:])), nil
		}
	}
	return 0, nil
}

// bias is how far the program lies from where it was linked.
func (p markedProcess) bias(program *sdt.Object) arch.Addr {
	if p.entry == 0 {
		return 0
	}
	return p.entry - program.Entry
}

// markedObject reads a file, nil if it cannot be read.
func (s *Server) markedObject(pid int, path string) *sdt.Object {
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
func addMarkers(at map[arch.Addr]*marker, layout *tdesc.Layout, object *sdt.Object, bias arch.Addr) {
	for _, p := range object.Probes {
		addr := p.PC + bias
		mk := at[addr]
		if mk == nil {
			mk = &marker{addr: addr, bias: bias, thread: probedThread{layout: layout}}
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
func (m *marker) AppendStatic(dst []byte, s tracepoint.Snapshot) []byte {
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
		if at := p.Semaphore + m.bias; p.Semaphore != 0 && !slices.Contains(addrs, at) {
			addrs = append(addrs, at)
		}
	}
	return addrs
}

// probedThread is a thread at a marker as the arguments of probes see it.
type probedThread struct {
	layout   *tdesc.Layout
	snapshot tracepoint.Snapshot
	block    []byte // all registers, for those wider than eight bytes; empty until one is wanted
}

func (t *probedThread) begin(s tracepoint.Snapshot) { t.snapshot, t.block = s, t.block[:0] }

// Register implements sdt.Env.
func (t *probedThread) Register(name string) (uint64, bool) {
	slot := t.layout.ByName(name)
	switch {
	case slot == nil:
		return 0, false
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
	return binary.LittleEndian.Uint64(t.block[slot.Offset:]), true
}

// ReadMemory implements sdt.Env.
func (t *probedThread) ReadMemory(addr arch.Addr, p []byte) int {
	return t.snapshot.ReadMemory(addr, p)
}
