// Package packed opens and creates files that may be compressed.
package packed
