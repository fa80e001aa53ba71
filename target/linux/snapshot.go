//go:build linux

package linux

import (
	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
)

// snapshot is the task of a hit, as the engine sees it. There is one, used for every hit.
type snapshot struct {
	t      *Target
	k      *task
	vector sys.Vector
}

var _ target.Snapshot = (*snapshot)(nil)

// snapshot makes the snapshot that of k, whose registers are fetched.
func (t *Target) snapshot(k *task) *snapshot {
	t.snap.k = k
	return &t.snap
}

// Thread implements target.Snapshot.
func (s *snapshot) Thread() int64 { return int64(s.k.tid) }

// ID implements target.Snapshot.
func (s *snapshot) ID() target.ThreadID { return target.ThreadID{PID: s.k.proc.pid, TID: s.k.tid} }

// PC implements target.Snapshot.
func (s *snapshot) PC() arch.Addr { return s.k.pc() }

// Register implements target.Snapshot.
func (s *snapshot) Register(r arch.Reg) (uint64, error) { return s.t.regs.value(s.k, r) }

// Registers implements target.Snapshot.
func (s *snapshot) Registers(block []byte) error { return s.t.regs.read(s.k, block) }

// Err implements target.Snapshot. There is no connection that could be lost: a task that is killed has no memory any more.
func (s *snapshot) Err() error { return nil }

// ReadMemory implements target.Snapshot.
func (s *snapshot) ReadMemory(addr arch.Addr, dst []byte) int {
	s.vector.Reset()
	s.vector.Add(uint64(addr), dst)
	n, err := s.vector.Read(s.k.tid)
	if err != nil || n < len(dst) {
		n, _ = s.k.proc.mem.ReadAt(dst, int64(addr))
	}
	s.k.proc.code.Hide(addr, dst[:n])
	return n
}

// ReadBatch implements target.Snapshot with one system call, unless a range is not readable as a whole.
func (s *snapshot) ReadBatch(reads []target.Read) {
	for len(reads) > sys.MaxVector {
		s.readBatch(reads[:sys.MaxVector])
		reads = reads[sys.MaxVector:]
	}
	s.readBatch(reads)
}

func (s *snapshot) readBatch(reads []target.Read) {
	s.vector.Reset()
	want := 0
	for i := range reads {
		s.vector.Add(uint64(reads[i].Addr), reads[i].Dst)
		want += len(reads[i].Dst)
	}
	if n, err := s.vector.Read(s.k.tid); err != nil || n != want {
		for i := range reads {
			r := &reads[i]
			r.N = s.ReadMemory(r.Addr, r.Dst)
		}
		return
	}
	for i := range reads {
		r := &reads[i]
		r.N = len(r.Dst)
		s.k.proc.code.Hide(r.Addr, r.Dst)
	}
}
