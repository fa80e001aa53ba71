// Package linux makes Linux processes a target, over ptrace: run control in all-stop and non-stop mode, breakpoints,
// registers, memory, and tracepoints that cost one stop a hit.
//
// # Who owns what
//
// One goroutine, locked to its thread, owns ptrace and every field of Target that is not said to be shared. It alternates
// between waiting for a tracee and serving requests: while nothing runs it sleeps until a request comes; while anything runs
// it blocks in wait, and a request rings it out (linux.Bell). A hit is handled where it is waited for: no other goroutine
// takes part. There is no lock; the queue of requests and the queue of events are the only shared state.
//
// # Words
//
// A task is one thread under trace; a process is the tasks of one thread group. A space is an address space with what this
// package has put into it: patches, displaced-stepping buffers, raised semaphores. Processes share one while a vfork child runs in its parent's
// memory; a fork copies it, an exec begins a new one.
//
// A trap is a breakpoint that is inserted over an instruction, for a breakpoint of the session, a tracepoint or both. A buffer holds
// a copy of a displaced instruction in a scratch mapping of the program, followed by a jump back. Package patch keeps both.
//
// A guest is a vfork child that the session has not asked for: it runs in the program's memory, so it meets the traps and
// must be led past them, and is not traced otherwise. A child that the session has asked for is a process like any other.
//
// # The life of a hit
//
// A task runs into a trap and stops behind it. Its pc is put back, the site's Hit is called with the task as the snapshot,
// and the displaced instruction happens: emulated on the registers, or executed in its buffer, or, where neither can be, stepped
// in place with every other task of the space held and the trap lifted. Then the task goes on. A breakpoint with a Check is
// asked in the same way, and one that need not stop is passed in the same way.
//
// # Holding
//
// What can be done only while others stand still (stepping in place, calling mmap in the program, changing what the debug
// registers watch or which system calls are caught, detaching, telling an event in all-stop mode) happens between hold and
// release. The argument of hold, a whom, says which tasks must stand: all, or those of one space. What they stop with
// meanwhile is parked with the task and acted on afterwards, so nothing is lost and nothing is told out of turn. A task that
// is caught at a ptrace event inside a system call is led to the end of that call first (endCall): the kernel has yet to
// write the call's result, over whatever would be done to the registers.
//
// The parent of a vfork sleeps in the kernel until its child has left, and nothing can stop it before. Hold does not wait
// for it; it leads a guest on until the parent can run, where that is asked for.
//
// # The death of the tracer
//
// Processes that were attached to outlive this one, and a guard (internal/guard) restores their code if it is killed. It knows
// of a trap before the int3 is written (place) until the program has its byte back (drop, leave), and of semaphores. The kernel
// resumes a task from the pc that it has: so in a process with a guard the kernel has the pc before a trap when the stop is waited
// for (reap).
//
// # Invariants
//
//   - A stopped task never shows a pc inside a buffer: settle moves it back whenever it stops, so that nothing above knows of
//     buffers, and they can be unmapped when all tasks of their space are stopped.
//   - task.passed is the address whose hit a stopped task has behind it though the instruction there has not run. It makes
//     an execution of an instruction exactly one hit, whatever stops the task in between. A signal that arrives in this
//     state waits until the instruction has run, because its handler would return to the trap; one that the session gives
//     may not (meets).
//   - In all-stop mode, while no Resume is pending, every task is in a ptrace-stop. Excepted are guests, tasks in a
//     group-stop, leaders that have exited before their threads, and parents whose vfork child is a process of its own.
//   - In non-stop mode a task is stopped for the session from its event to its next Resume (task.resumed is false); the
//     tracer may hold others at any time, of which nobody hears.
//   - Hits count in the processes that an Installer was asked to put sites into (process.traced), and in the child of one that
//     the session lets go at its fork.
package linux
