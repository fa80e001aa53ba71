// Package pprof counts the stacks that frames were made in, and writes the counts as a profile of pprof (profile.proto of
// github.com/google/pprof) or as folded stacks, which flame graphs are made of:
//
//	main;serve;push 1200
//
// The stack of a frame is its backtrace, where record --backtrace collected one, else the function that it was made in alone. A
// backtrace that does not reach the outermost function has "[truncated]" in place of what is missing. The sums of a numeric
// expression can be had beside the counts, or instead of them.
//
// The different stacks are kept in memory until the end, of frames nothing else.
package pprof
