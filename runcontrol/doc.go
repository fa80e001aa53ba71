// Package runcontrol is the debuggee as a front end of any kind sees it: which processes there are and how they came, what runs
// and what has stopped, and what becomes of all that when the client leaves.
//
// # What it decides
//
// A front end translates between a client and a Debuggee. It does not decide:
//
//   - whether an event stops the program for its client or lets it go on as before (Settle);
//   - which process a trace run is in, how the run ends with the process, and that it moves to the child of a fork that the
//     client follows (Learn, LetGo);
//   - what a program does without a client: it stands still, or goes on under a watch, because a trace run or commands of
//     breakpoints survive the client that asked for them (Leave, Attend);
//   - how a process is let go or ended (LetGo, KillAll), which in all-stop mode takes a stop of everything first.
//
// # Two modes
//
// In all-stop mode one Resume brings one event, and Settle takes it. In non-stop mode each thread stops alone: the front end
// takes an event by Knows, Learn and Note, and the Debuggee keeps which threads are stopped, since no target says so. What the
// client of a front end has been told of that is the front end's own business.
//
// # Who calls it
//
// One client controls, others watch: each of them calls with the lock held (Lock), and those who watch call nothing that changes
// anything. A front end without watchers needs no lock, but its methods are then for one goroutine at a time. While a program runs
// without a client, the watch over it is that goroutine, and Attend ends the watch. State is for everyone at any time.
package runcontrol
