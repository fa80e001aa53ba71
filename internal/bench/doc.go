// Package bench measures what a tracepoint hit costs: under tracewell serve, under gdbserver, and under the bare floor of
// package floor, all in one run and in turns, because figures that were taken at different times do not compare. Both
// servers are driven by the real GDB; the program times itself.
//
//	go test -run '^$' -bench Hit ./internal/bench [-args -rounds N -strict]
//
// It has one benchmark and no product code.
package bench
