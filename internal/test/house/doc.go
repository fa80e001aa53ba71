// Package house holds the project's source to the rules that a compiler does not know: who may import whom
// (docs/layers.txt), who may touch system calls, memory addresses and files, which compilers and debuggers tests may
// run, what has to be documented, how long functions and lines may be, how much of a package is comments, and which words are not
// names. The same trees are measured ("make measures").
//
// All of it is tests over the syntax trees of the module; nothing is built into the product. Each rule is also run over
// testdata/broken, a small module that breaks every one of them, so that a rule that no longer finds anything is noticed.
package house
