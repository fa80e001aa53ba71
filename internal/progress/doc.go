// Package progress shows on a terminal how far long work has come.
package progress
