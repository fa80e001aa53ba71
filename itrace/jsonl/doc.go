// Package jsonl is execution traces as JSON lines, for programs that have no parser of the other dialects: an object for each
// record, here with every member that there is:
//
//	{"kind":"instruction","time":1,"scale":"clk","cpu":0,"id":1,"skipped":true,"address":"0x00000004","opcode":"0x3c080001",
//	 "state":"A","mode":"svc","security":"ns","disasm":"lui t0,0x1"}
//	{"kind":"memory","time":10,"scale":"clk","cpu":0,"access":"read","size":8,"privilege":"X","address":"0x00103fc4",
//	 "data":"0x0010400000000000"}
//	{"kind":"register","time":14,"scale":"clk","cpu":0,"name":"r8","value":"0x00000000"}
//	{"unknown":"a line that is no record"}
//
// Time, processor, id and size are numbers. Addresses, opcodes, data and values are strings, 0x and the digits of the trace in
// their case and width; x, X, -, . and # among them stand for digits that are not known. What a record does not tell has no
// member.
//
// In what is read members may come in any order, blanks between them, members that are not named above are passed over, and
// null is as good as no member. Needed are kind; of instructions address and opcode, of memory access, size, address and data,
// of registers name and value. A record without cpu is of that of the latest instruction.
//
// Strings are UTF-8. A byte that is none, which disassemblies and unknown lines may have, is \udc80 to \udcff, its value behind
// \udc: the surrogateescape of Python. So all bytes come back.
package jsonl
