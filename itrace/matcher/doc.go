// Package matcher is the dialect of ISPRAS Trace Matcher, which MicroTESK and QEMU4V write:
//
//	<time> <scale> <cpu> IT|IS (<id>) <address> <opcode> A|T|X <mode>[_s|_ns] : <disassembly>
//	<time> <scale> M<R|W><bytes>[X|T] <address> <data>
//	<time> <scale> R <register> <value>
//
//	1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1
//	10 clk MR8 00103fc4 0010400000000000
//	14 clk R r8 00000000
//
// Times, processors, ids and sizes are decimal; addresses, opcodes, data and values are hexadecimal in either case and of any
// width, with or without 0x. x, X, -, . and # stand for digits that are not known, but not in addresses. IS is an
// instruction whose condition did not hold. X and T behind a size mean privileged and unprivileged; what is in front of the digits
// that a size has must be zeros, or not known. The lines of memory and
// registers name no processor and are of that of the latest instruction. The format is that of the page "Trace Format" of
// Trace Matcher; what is laxer here, as numbers of any width, is what its two producers differ in.
package matcher
