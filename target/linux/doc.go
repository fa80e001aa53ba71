// Package linux makes a Linux process a target, over ptrace: run control, breakpoints, registers, memory, and tracepoints
// that cost one stop a hit.
//
// # Who owns what
//
// One goroutine, locked to its thread, owns ptrace and every field of Target that is not said to be shared. It alternates
// between waiting for a tracee and serving requests: while all threads are stopped it sleeps until a request comes; while any
// runs it blocks in wait, and a request rings it out (linux.Bell). A hit is handled where it is waited for: no other
// goroutine takes part. There is no lock; the queue of requests is the only shared state.
//
// # Words
//
// A task is one thread under trace. A trap is an int3 that this package wrote over an instruction, for a breakpoint, a
// tracepoint or both. A slot is a copy of a displaced instruction in a scratch mapping of the program, ended by a jump back.
// A guest is a vfork child: it runs in the program's memory, so it meets the traps and must be led past them, and is not
// traced otherwise.
//
// # The life of a hit
//
// A task runs into a trap and stops behind it. Its pc is put back, the site's Hit is called with the task as the snapshot,
// and the displaced instruction happens: emulated on the registers, or run from its slot, or, where neither can be, stepped
// in place with every other task held and the trap lifted. Then the task goes on.
//
// # Invariants
//
//   - A stopped task never shows a pc inside a slot: settle moves it back whenever it stops, so that nothing above knows of
//     slots, and a slot can go away when all tasks are stopped.
//   - task.passed is the address whose hit a stopped task has behind it though the instruction there has not run. It makes
//     an execution of an instruction exactly one hit, whatever stops the task in between. A signal that arrives in this state
//     waits until the instruction has run, because its handler would return to the trap; one that the session gives may not
//     (meets).
//   - While no Resume is pending every task but guests and tasks in a group-stop is in a ptrace-stop.
package linux
