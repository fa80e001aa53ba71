// Package producers holds the dialects of execution traces, and comparisons between them, to traces that real producers wrote of the
// same programs. Its page in testdata tells of these.
package producers
