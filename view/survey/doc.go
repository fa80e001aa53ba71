// Package survey goes over the frames of a trace file: it finds those that are looked for (Choice), says what changed since
// the frame before (Comparison), and counts and measures them all (Summary).
//
// It goes through a file from one end to the other, and holds a frame or two at a time and figures of a bounded size, however
// long the file is; of the last frames of a choice it holds the numbers. It prints nothing.
//
// A Choice reads no frame that the file's index of tracepoints rules out. A Comparison reads the previous frame of a tracepoint
// again, a Summary counts: each of its figures has a bound of its own (Distribution, Texts, MostPCs), beyond which it says that
// there is more.
package survey
