// Package padtest holds tracing to what must be true of it whatever a program does: with tracepoints on every second instruction
// of programs that nobody here wrote, these print what they print untraced, and each frame is of the place that it names. It is
// tests only. The whole of it is "make prove-pads"; make test has some thousand locations of each program.
package padtest
