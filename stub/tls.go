package stub

import (
	"encoding/hex"
	"errors"

	"tracewell/arch"
	"tracewell/rsp/request"
	"tracewell/target"
)

// errNoLocals is the answer when the client has hidden the thread library.
var errNoLocals = errors.New("libthread-db-search-path has no libthread_db.so.1, which asks for no thread-local variables")

// threadLocal is qGetTLSAddr.
func (x *session) threadLocal(l request.Local) (arch.Addr, error) {
	if x.noLocals {
		return 0, errNoLocals
	}
	id, err := x.resolve(l.Thread.PID, l.Thread.TID)
	if err != nil {
		return 0, err
	}
	return x.target.ThreadLocals().ThreadLocal(id, l.LinkMap, l.Offset)
}

// threadHandle is what the program's C library calls a thread (pthread_t), as its bytes in memory, in hex; "" if that is not
// known. GDB's Python finds threads by it (Inferior.thread_from_handle).
func (x *session) threadHandle(id target.ThreadID) string {
	locals := x.target.ThreadLocals()
	if locals == nil {
		return ""
	}
	pointer, err := locals.ThreadPointer(id)
	if err != nil || pointer == 0 {
		return ""
	}
	var b [8]byte
	// pthread_t is a pointer to the thread's descriptor in glibc and musl: the thread pointer of the ABI leads there.
	isa := x.target.ISA()
	if isa.AddrSize == 4 {
		isa.Order.PutUint32(b[:], uint32(pointer))
	} else {
		isa.Order.PutUint64(b[:], uint64(pointer))
	}
	return hex.EncodeToString(b[:isa.AddrSize])
}
