// Package wire is the JSON and CSV that programs rely on: the objects that commands write with --json, as structs, and rows of
// frames. Whatever shows traces elsewhere, such as a page in a browser, writes the same objects, so that the command line tests it.
//
// Names and meaning of members stay; members may be added. Addresses and registers are strings in hexadecimal after 0x, since
// JSON has no integers of 64 bits that every reader keeps; counts and sizes, in bytes, are numbers. What a file does not tell is
// null, and a list without elements is empty. Times are microseconds unless a member says otherwise.
//
// The package opens no file and knows no terminal. Objects are encoded by internal/jsontext or encoding/json alike; the former
// escapes what commands a terminal.
package wire

//go:generate go test . -run ^TestReference$ -update
