// Package report writes what a comparison of execution traces has found: as text for people, as JUnit XML for the systems that
// run tests, and as a page of HTML.
//
// All three lead with the verdict and the first difference, and show around it the lines of both traces side by side, the
// registers before it and who wrote them; then come the other differences, the counts, and the rules in force.
//
// What stands in a trace is not trusted. It is written with escapes for what is not printable, and cut where it is too long to
// be of use.
package report
