// Package filter evaluates conditions in C syntax over named values, such as those that a frame holds.
package filter
