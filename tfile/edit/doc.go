// Package edit makes one trace of others: frames chosen from it, several files of one experiment joined.
package edit
