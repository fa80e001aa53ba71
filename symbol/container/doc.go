// Package container describes the containers of the standard libraries of C++, Rust and Go: strings, vectors, lists, trees, hash
// tables, smart pointers. A Shape says where such a value keeps its elements, so that a tracepoint can collect them and a frame can
// show them.
//
// A type is recognized by its name and by the members that it has. Where these lie is read from the debug information, because it
// differs between versions of a library and between machines. A type that has not all of the members is shown as it is.
//
// # One program, two uses
//
// How elements are found is bytecode (term.go): a Shape has code for the first element's place, for the next one's, and for how
// many there are. Collecting puts these together to a loop, which traces each element (collect.go). Reading runs the same code over
// the memory of a frame (walk.go). Neither can visit what the other does not.
//
// # Damage
//
// A variable that is not initialized is a container, too. Numbers are brought into range before they are used, loops end after as
// many rounds as there may be elements, and nothing is followed twice. What a frame does not have, or what cannot be, is said in
// place of the elements: "<not collected: 3 elements>".
package container
