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
// Traces that tell more than these, or less, have some of these as well:
//
//	{"kind":"instruction",…,"cycle":7,"trapped":true,"physical":"0x4","tells":"opcode registers stores store-data"}
//	{"kind":"memory",…,"access":"read","partial":true,"address":"0x10","physical":"0x8000010","device":"RAM","security":"ns"}
//	{"kind":"register",…,"name":"v0","value":"0x1","high":127,"low":64,"shape":"e32 m1 l4","number":768,"system":true,
//	 "zero":true,"back":2}
//	{"kind":"register-read",…,"name":"r8","value":"0x1"}
//	{"kind":"event",…,"event":"exception","name":"illegal","address":"0x4","value":"0x2","detail":"0x0","mode":"M"}
//	{"remark":"a line without a meaning for what was executed"}
//
// Time, processor, id and size are numbers. Addresses, opcodes, data and values are strings, 0x and the digits of the trace in
// their case and width; x, X, -, . and # among them stand for digits that are not known. What a record does not tell has no member.
//
// In what is read members may come in any order, blanks between them, members that are not named above are passed over, and null is
// as good as no member. Needed are kind; of instructions address and opcode, of memory access, size, address and data, of registers
// name and value, of events the event: other, exception, interrupt, mode or reset. Without tells an instruction tells all that is
// in the first list; with it what it says, in the words of itrace.Scope.Names, and only where opcode is among them it is needed. An
// access that is partial needs neither size nor data. A record without cpu is of that of the latest instruction.
//
// Strings are UTF-8. A byte that is none, which disassemblies and unknown lines may have, is \udc80 to \udcff, its value behind
// \udc: the surrogateescape of Python. So all bytes come back.
package jsonl
