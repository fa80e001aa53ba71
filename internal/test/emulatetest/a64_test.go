package emulatetest

// a64Forms are what is emulated, and what stands beside it in the tables of opcodes.
var a64Forms = []form{
	word("adr", 0x10000000, 0x1f000000), word("add constant", 0x11000000, 0x1f800000), word("logical constant", 0x12000000, 0x1f800000),
	word("move", 0x12800000, 0x1f800000), word("bitfield", 0x13000000, 0x1f800000), word("b", 0x14000000, 0x7c000000),
	word("b.cond", 0x54000000, 0xff000010), word("cbz", 0x34000000, 0x7e000000), word("tbz", 0x36000000, 0x7e000000),
	word("ret", 0xd65f0000, 0xfffffc1f), word("nop", 0xd503201f, 0xffffffff), word("bti", 0xd503241f, 0xffffff3f),
	word("pair", 0x28000000, 0x3e000000), word("push pair", 0xa98003e0, 0xffc003e0), word("literal", 0x18000000, 0x3ffc0000),
	word("load, store", 0x38000000, 0x3f000000), word("load offset", 0x39000000, 0x3f000000), word("stack", 0x390003e0, 0x3f0083e0),
	word("load sum", 0x38206800, 0x3f206c00), word("logical", 0x0a000000, 0x1f000000), word("add", 0x0b000000, 0x1f200000),
	word("add extended", 0x0b200000, 0x1fe00000), word("adc", 0x1a000000, 0x1fe0fc00), word("csel", 0x1a800000, 0x1fe00000),
	word("shift", 0x1ac02000, 0x7fe0f000), word("quotient", 0x1ac00800, 0x7fe0f800), word("product", 0x1b000000, 0x7fe00000),
}
