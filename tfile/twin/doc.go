// Package twin writes a trace file as text that people read and compare, and makes the same bytes of the text again.
package twin
