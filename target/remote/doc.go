// Package remote makes a target of any stub of GDB's remote protocol: QEMU, Valgrind, OpenOCD, a probe, an emulator, gdbserver.
// Whatever stands between a target and its users here, tracepoints, conditions of breakpoints, commands, recordings, is thereby
// in front of that stub, which need know nothing but registers, memory, breakpoints and steps.
//
// # How a hit goes
//
// A tracepoint is a breakpoint of the stub's (Z0, or Z1 where that is refused, or an instruction written into memory where there is
// neither). The stop is looked up in the table of what is inserted (place): the handler of tracepoints makes its frame, conditions
// of breakpoints are evaluated, and unless one of them wants the program stopped the thread passes the instruction and goes on: by
// emulation, or by a step where its effects are not certain. Clients see nothing of it. The costs are those of the packets:
// continue, registers, memory, and those of passing; none is sent that the frame does not need, and registers are read once.
//
// Memory is read where somebody asked for it, where code is, and where it is certain to be no device: a read of a device's register
// can change the device.
//
// # Who does what
//
// One goroutine owns the connection (link). Calls from outside are handed to it, and are carried out while the program stands
// still. Where it runs for the client, the stub is interrupted for the call, and the program goes on after it, so that a trace run
// can be started and ended at any time. Handlers and checks are called on that goroutine.
//
// Towards the stub everything is all-stop mode: it is what every stub has.
//
// # What stubs differ in
//
// A Profile says what a stub can bear and what it costs: some stop their program at any byte that arrives while it runs, some do
// not step off a breakpoint that is inserted. Those that are known are recognised by what they announce; of others the worst is
// assumed until a hit shows better.
//
// Nothing that a stub sends is trusted. What makes no sense is an error of the call; a connection that fails, or a stub that is
// silent for longer than Options.Patience, is lost for good: the program counts as gone, a trace run ends with the reason, and what
// is called later returns it.
package remote
