// Package guardtest kills tracers by SIGKILL at random moments and looks at what they leave: the program that was traced, the
// guard, and the trace file. It is tests only. The whole of it is "make prove-guard"; make test has a few kills of each kind.
package guardtest
