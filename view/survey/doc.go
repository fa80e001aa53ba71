// Package survey goes over the frames of a trace file: it finds those that are looked for (Choice), says what changed since
// the frame before (Comparison), and counts and measures them all (Summary).
//
// It goes through a file from one end to the other, and holds a frame or two at a time and figures of a bounded size, however
// long the file is; of the last frames of a choice it holds the numbers. It prints nothing.
//
// A million frames are gone through in seconds: a Choice reads no frame that its index rules out, one frame is in memory at a
// time, and what is kept of all of them is bounded whatever they hold (Distribution, Texts, MostPCs).
package survey
