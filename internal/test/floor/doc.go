// Package floor is the least that a tracer can do for a tracepoint: one stop, the registers, 16 bytes of memory, the displaced
// instruction, go on. It has no conditions, no frames, no threads, no signals and no client, so what it costs is the cost
// of ptrace itself on the machine at hand, and what tracewell takes beyond it is tracewell's own. Only benchmarks use it.
package floor
