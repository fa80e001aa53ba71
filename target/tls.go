package target

import "tracewell/arch"

// ThreadLocals is a target that knows where a thread's own variables are.
type ThreadLocals interface {
	// ThreadPointer is the address that the thread finds them by, which its C library also uses to name it (pthread_t); 0
	// before the library has set it. The thread must be stopped.
	ThreadPointer(id ThreadID) (arch.Addr, error)
	// ThreadLocal is the address of the variable at an offset in the thread-local storage of an object, which is given by the
	// address of its entry in the linker's list (LinkObject.LM); 0 stands for a program that has no such list. It fails with
	// inferior.ErrNotAllocated if the thread has not got that storage yet. The thread must be stopped.
	ThreadLocal(id ThreadID, object arch.Addr, offset uint64) (arch.Addr, error)
}
