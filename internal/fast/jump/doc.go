// Package jump decides how a location of an x86-64 program is patched with a jump, so that a tracepoint there costs no trap. It is
// pure computation: bytes of the program come in, and plans come out, with the bytes to write.
//
// A jump takes five bytes, and most instructions are shorter. So a Planner climbs a ladder (Rung) until one way is open:
//
//   - Jump: the instruction has five bytes or more.
//   - Overlap: the jump covers several instructions, which are all executed elsewhere. Where one of them began, the jump has a
//     byte that traps (Guard), because threads may come there by ways that nobody can foresee: jump tables, landing pads of
//     exceptions, returns of signal handlers. This rung is for locations where the sweep (Targets) has found no such way.
//   - Pun: the jump's last bytes are those of the instructions that follow, which stay as they are; so they say where it goes.
//   - Short: a jump of two bytes reaches padding between functions, where there is room for one of five.
//   - Unclean: as Overlap, where a function has a jump through a register or bytes that are no known instruction. A program that
//     has lost its tracer dies of a guard, so this rung is not for all programs (Planner.NoUnclean).
//
// If none is open, or the Planner knows another reason, the location needs a trap; the *Refusal says why.
//
// The bytes that must trap or stay leave a choice of places for what the jump goes to (Places); a trampoline there jumps on to the
// pad. Room hands these places out.
//
// Correctness depends on the guards alone, never on the sweep. The sweep only keeps patches away from code that would run into the
// guards often.
//
// Indirect branches: endbr64 at a location is displaced like any other instruction. With indirect-branch tracking, a jump in its
// place would fault, but Linux does not enable that for programs. Shadow stacks it does; no call is displaced with them
// (Planner.ShadowStack).
package jump
