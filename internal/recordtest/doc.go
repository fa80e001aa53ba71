// Package recordtest holds what record collects against what GDB prints: every variable in sight at the marked lines of the
// corpus, in every build of it, at every arrival.
//
// It is tests only. The whole of it is "make prove-record"; make test goes through two builds of each language.
package recordtest
