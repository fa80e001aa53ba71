// Package recordtest holds what record collects against what GDB prints: every variable in sight at the marked lines of the
// corpus, in every build of it, at every arrival; the same of random programs, where it is also held against what the program
// stored, and of the rare types in testdata. Backtraces are compared call by call and register by register, at random hits of
// programs that nobody here wrote, too.
//
// It is tests only. The whole of it is "make prove-record"; make test goes through two builds of each language, and one random
// program of each compiler. The seed is printed, and -seed takes it.
package recordtest
