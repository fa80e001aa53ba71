// Package parting compares how two versions of a program ran: by calls and by lines of the source, never by addresses.
//
// Each trace becomes a stream of steps: a function is entered, is left, executes another line. Lines that repeat at once are one
// step, a loop with so many rounds. Handlers of exceptions and interrupts are left out: they come at another place in every build.
// Code without a symbol, such as a boot ROM, is left out, too: what it calls counts as called by its caller.
//
// Compare walks both streams together. Where they differ in a function, each side's steps are looked at as a list in which a call
// with all below it is one element, and the shortest stretch is left out of both lists behind which they agree again. So a call
// that one version has more is a parting, with all that it called, and what follows is compared as before. What is left out in the
// same way in the same function is one Parting with a count.
//
// # Lines of both versions
//
// A line inserted anywhere moves all below it, so lines have no common numbers. Within a function lines correspond by their
// distance from its beginning, or, where that fits worse, in the order that has the most lines with the same text, or where the
// sources of both versions are not there, with code of the same size.
//
// # Bounds
//
// Up to maxAhead steps are kept of each trace. A call longer than that is left out without being kept, if it is what differs; where
// nothing else agrees the rest of the function is left out, which the Parting says.
package parting
