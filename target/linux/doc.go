// Package linux makes Linux processes a target, over ptrace: run control in all-stop and non-stop mode, breakpoints,
// registers, memory, and tracepoints, which cost one stop a hit, or none.
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
// A task is one thread under trace; a process is the tasks of one thread group. An addrSpace is an address space with what this
// package has put into it: patches, displaced-stepping buffers, raised semaphores. Processes share one while a vfork child runs
// in its parent's memory; a fork copies it, an exec begins a new one.
//
// An inserted breakpoint is a breakpoint that is inserted over an instruction, for a breakpoint of the session, a tracepoint or
// both. A buffer holds a copy of a displaced instruction in a scratch mapping of the program, followed by a jump back. Package
// patch keeps both.
//
// A vfork child (role) is one that the session has not asked for: it runs in the program's memory, so it meets the inserted
// breakpoints and must be led past them, and is not traced otherwise. A child that the session has asked for is a process like
// any other.
//
// # The loop
//
// There is one loop (trace), and no handler is ever entered from within another. What wait says is entered into the state of its
// task at once (note) and queued; the loop takes the first stop that is due and handles it (handleStop). A handler does what is due
// to its own task and leaves the rest to the loop, which does in this order, one at a time, before it looks at a request, the next
// stop, or wait (settleDue):
//
//   - tell the engine and the session of tasks that have ended (ends);
//   - end the pending Resume of all-stop mode with an event: stop everything, then tell it (telling, backlog);
//   - resume what was stopped for another's sake, or is new (ready);
//   - look whether a thread is left that can have an event (fewer).
//
// What can be done only while others stand still (stepping in place, calling mmap in the program, changing what the debug
// registers watch or which system calls are caught, detaching, telling an event in all-stop mode) comes after stopThreads,
// which collects and handles nothing: whatever stops meanwhile, asked to or not, waits in the queue. Nothing has to be released
// afterwards, since what it stopped is ready. A task that is caught at a ptrace event inside a system call is led to the end of
// that call first (finishCall): the kernel has yet to write the call's result, over whatever would be done to the registers.
//
// The parent of a vfork sleeps in the kernel until its child has left, and nothing can stop it before. stopThreads does not wait
// for it. stopAll does, and leads vfork children on until it can stop: nothing is told of them, so this is no handler within
// another but a part of the loop, from which alone, and from requests, it is called.
//
// # The state of a task
//
// Three values say where a task is: state and why, what the kernel does with it; wants, what the session wants; owes, with passed,
// deferred, sent and diverted, what this package has to do before the task has run as the session believes. They have names
// (String), and a state that cannot be ends the tracer with a dump of all (surprise). What a stop leads to:
//
//	stop              | wants to run                   | wants to halt | vfork child           | parting child
//	------------------|--------------------------------|---------------|-----------------------|------------------
//	interrupt         | go on                          | report        | go on                 | detach
//	group-stop        | listen                         | report        | listen                | detach
//	fork, vfork, clone| enter the child; report or go on               | child too; go on      | free child; detach
//	end of vfork      | report if asked for, or go on                  | go on                 | detach
//	exec              | new address space; report                      | detach                | detach
//	syscall entry,    | report if caught, or go on                     | go on                 | detach
//	  return          |                                                |                       |
//	SIGTRAP: a trap   | hit: collect; report at a breakpoint, or pass  | pass                  | back before it; detach
//	  debug register  | report if a check wants it, or go on           | go on                 | detach
//	  step            | collect; report, or go on in a range           | -                     | -
//	other signal      | report, or go on with it if it is passed on    | go on with it         | detach with it
//	end               | tell engine and session                        | forget                | forget
//
// A task that was stopped for another's sake and that the session has not resumed, and any while no Resume is pending, keeps
// its stop in the queue. Before it stands for long its stop is prepared (mustHandle): an interruption is dropped, a birth that
// nobody is told of entered, a task behind an inserted breakpoint put back before it, the cause of a debug register noted. "Go
// on" is proceed: the instruction whose hit the task has behind it happens first, then the signals that waited for it.
//
// # The life of a hit
//
// A task runs into an inserted breakpoint and stops behind it. Its pc is put back, the Handler's Hit is called with the task as
// the snapshot, and the displaced instruction happens: emulated on the registers, or executed in its buffer, or, where neither
// can be, stepped in place with every other task of the address space stopped and the breakpoint removed. Then the task goes on. A
// breakpoint with a Check is asked in the same way, and one that need not stop is passed in the same way.
//
// # Pads
//
// Where it can a tracepoint is no breakpoint but a jump to a pad (packages internal/fast and internal/fast/jump), code that writes
// the frame into a ring which the program and the tracer share (arena). The Collector hands out what the rings hold: a goroutine of
// its own drains them as they fill, and the tracer does before it calls the Handler or sends an event, so that all frames are in
// one order. The loop hears nothing of a hit. What it has to do about pads is this:
//
//   - A site is an inserted breakpoint whose patch is the jump (insertedBreakpoint.pad), or that has none because the jump of a
//     site in front of it displaces its instruction (padrow.go). Sites come and go with all threads of the address space stopped
//     (apply); the program's own code stays whole meanwhile for whoever is killed.
//   - No stopped task is in a pad. A stop that only a pad has brought about (an access to memory that is not there, a thread
//     under a jump, the system call of a thread that waits for room) is absorbed where it is waited for: the task goes on at
//     once. At any other stop the task leaves the pad, back to the site or, with its hit behind it, as from any breakpoint. If the
//     signal of such a stop is pending at another one it is taken first (drainFault).
//   - A task that is to step from a site has its hit from the Handler, as have all tasks at a site that is demoted: something else
//     needs its bytes, a breakpoint of the session or a write, or too many threads come to the middle of its jump.
//   - A breakpoint of the session whose Check can be evaluated in a pad is a site, too, once it is worth it (padjudge.go). A task
//     that its pad has stopped is as one that has run into an inserted breakpoint: its pc is behind the address of the site.
//   - While a task runs in the memory whose hits do not count, or count for another process, as a vfork child's, the jumps have
//     lids (padlid.go).
//   - A forked child keeps its copy of the pads for the case that it is to be traced as well (padfork.go), and what is known of
//     code is believed only as long as it is mapped (padstale.go).
//   - When the tracer dies the kernel tells the pads, which then do nothing (sys.Owner). The jumps stay, and a directory in the
//     arena from which another tracer can put the code back. So the guard is not told of jumps, only of lids.
//
// Calls that the program has to make for an arena are made by one of its threads from a stub in the vdso (inject.go).
//
// # What was rejected
//
// Stopping threads from within a handler and handling there what they stop with, which makes the loop a recursion: whoever stops
// threads then needs lists of its own for what it must not handle yet, and nobody can tell who has called a handler. Handlers
// that return what is to be done next, as values: the straight path of a hit would go through a table once more, and a signal to be
// delivered would need a place while something else comes first. A state for each combination of why, wants and owes: there
// are hundreds, and most transitions change one of the three.
//
// # The death of the tracer
//
// Processes that were attached to outlive this one, and a guard (internal/guard) restores their code if it is killed. It knows
// of an inserted breakpoint before the int3 is written (place) until the program has its byte back (drop, leave), and of
// semaphores. The kernel resumes a task from the pc that it has: so in a process with a guard the kernel has the pc before an
// inserted breakpoint when the stop is waited for (reap).
//
// # Invariants
//
//   - A stopped task never shows a pc inside a buffer: leaveBuffer moves it back whenever it stops, so that nothing above knows of
//     buffers, and they can be unmapped when all tasks of their address space are stopped.
//   - A task has at most one stop in the queue, and owes it while it has. Nothing is done to a task between its stop and the loop
//     but by whoever waits for that task alone (awaitStop) or prepares its stop.
//   - task.passed is the address whose hit a stopped task has behind it though the instruction there has not run. It makes
//     an execution of an instruction exactly one hit, whatever stops the task in between. A signal that arrives in this
//     state waits until the instruction has run, because its handler would return to the breakpoint; one that the session gives
//     may not (hitsAgain).
//   - In all-stop mode, while no Resume is pending, every task is in a ptrace-stop. Excepted are vfork children, tasks in a
//     group-stop, leaders that have exited before their threads, and parents whose vfork child is a process of its own.
//   - In non-stop mode a task is stopped for the session from its event to its next Resume (it wants to stay); the
//     tracer may hold others at any time, of which nobody hears.
//   - Hits count in the processes that Install was called for (process.traced), and in the child of one that
//     the session lets go at its fork.
package linux
