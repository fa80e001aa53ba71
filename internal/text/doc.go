// Package text lays out what is printed for people: tables, hex dumps, quotations, and a little colour.
//
// It writes to the io.Writer that it is given and asks nobody how wide a terminal is. Widths are counted in characters, one
// column each. What comes out of a file goes through Visible before it reaches a terminal.
package text
