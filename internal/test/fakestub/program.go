package fakestub

// Where the memory of the machine is, and what it has in it.
const (
	FlashAt, FlashSize   = 0x20000000, 64 << 10
	RAMAt, RAMSize       = 0x80000000, 1 << 20
	DeviceAt, DeviceSize = 0x10000000, 0x100

	// MostHarts is how many processors a machine may have, and Kept how many records each of them keeps.
	MostHarts, Kept = 4, 4096

	// FileText is what the program has written by its client, see Quirks.FilesEach.
	FileText   = "written by the program\n"
	fileTextAt = FlashAt + FlashSize - 0x100

	areas    = RAMAt + 0x10000 // a hart's record area behind another's
	firstOne = 0x40            // of the records, in an area
	recorded = 32              // bytes of a record
	areaSize = firstOne + Kept*recorded
	stacks   = RAMAt + RAMSize // the first hart's; they grow down
	stack    = 0x1000
)

// Numbers of registers.
const (
	zero, ra, sp, gp, tp, t0     = 0, 1, 2, 3, 4, 5
	s0, s1, a0, a1, a2           = 8, 9, 10, 11, 12
	s2, s3, s4, a7, pcRegister   = 18, 19, 20, 17, 32
	registers, trapWide, trapTwo = 33, 0x00100073, 0x9002
)

// Record is what the program writes down of a pass of work, at its end.
type Record struct {
	A0, A1 uint64 // the arguments: the number of the pass from 1 on, and twice that plus the number of the hart
	Sum    uint64 // what work returned
	SP     uint64 // inside of work
}

// Expected is the record that a hart (from 0 on) keeps of a pass (from 1 on).
func Expected(hart int, pass uint64) Record {
	a1 := 2*pass + uint64(hart)
	return Record{pass, a1, pass + a1 + 7*(pass&3), stacks - uint64(hart)*stack - 16}
}

// program assembles the program that every hart executes. In C:
//
//	start:  for (pass = 1; ; pass++) { total += work(pass, 2*pass + hart); if (pass == limit) end: exit or stay here; }
//	work:   sum = a0 + a1; for (n = a0 & 3; n != 0; n--) inner: sum += 7; stored: *record++ = {a0, a1, sum, sp}; return sum;
//
// The record is complete before the count of passes changes that stands at the beginning of the hart's area.
func program(org uint64, exits bool) *assembler {
	a := &assembler{org: org, labels: map[string]uint64{}}
	a.label("start")
	a.narrow(0x4401) // c.li s0,0
	a.label("loop")
	a.narrow(0x0405)                        // c.addi s0,1
	a.narrow(0x8522)                        // c.mv a0,s0
	a.wide(encodeR(0x33, 0, 0, a1, s0, s0)) // add a1,s0,s0
	a.narrow(0x9592)                        // c.add a1,tp
	a.jal(ra, "work")                       // jal ra,work
	a.wide(encodeR(0x33, 0, 0, s1, s1, a0)) // add s1,s1,a0
	a.wide(encodeS(3, gp, s1, 8))           // sd s1,8(gp)
	a.branch(1, s0, s2, "loop")             // bne s0,s2,loop
	a.label("end")
	if exits {
		a.wide(encodeI(0x13, 0, a0, zero, 0))  // li a0,0
		a.wide(encodeI(0x13, 0, a7, zero, 93)) // li a7,93
		a.wide(0x00000073)                     // ecall
	}
	a.narrow(0xa001) // c.j .

	a.label("work")
	a.narrow(0x1141) // c.addi sp,-16
	a.narrow(0xe406) // c.sdsp ra,8(sp)
	a.narrow(0xe02a) // c.sdsp a0,0(sp)
	a.label("body")
	a.wide(encodeI(0x13, 7, t0, a0, 3))     // andi t0,a0,3
	a.wide(encodeR(0x33, 0, 0, a2, a0, a1)) // add a2,a0,a1
	a.branch(0, t0, zero, "stored")         // beqz t0,stored
	a.label("inner")
	a.wide(encodeI(0x13, 0, a2, a2, 7)) // addi a2,a2,7
	a.narrow(0x12fd)                    // c.addi t0,-1
	a.branch(1, t0, zero, "inner")      // bnez t0,inner
	a.label("stored")
	a.wide(encodeS(3, s3, a0, 0))              // sd a0,0(s3)
	a.wide(encodeS(3, s3, a1, 8))              // sd a1,8(s3)
	a.wide(encodeS(3, s3, a2, 16))             // sd a2,16(s3)
	a.wide(encodeS(3, s3, sp, 24))             // sd sp,24(s3)
	a.wide(encodeI(0x13, 0, s3, s3, recorded)) // addi s3,s3,32
	a.branch(1, s3, s4, "kept")                // bne s3,s4,kept
	a.wide(encodeI(0x13, 0, s3, gp, firstOne)) // addi s3,gp,64
	a.label("kept")
	a.wide(encodeS(3, gp, s0, 0)) // sd s0,0(gp)
	a.narrow(0x8532)              // c.mv a0,a2
	a.narrow(0x60a2)              // c.ldsp ra,8(sp)
	a.narrow(0x0141)              // c.addi sp,16
	a.narrow(0x8082)              // c.ret
	a.finish()
	return a
}

// area is where a hart's records are.
func area(hart int) uint64 { return areas + uint64(hart)*areaSize }

// boot is a hart as it begins.
func boot(id int, start, passes uint64) hart {
	h := hart{pc: start}
	h.x[sp], h.x[gp], h.x[tp] = stacks-uint64(id)*stack, area(id), uint64(id)
	h.x[s2], h.x[s3], h.x[s4] = passes, area(id)+firstOne, area(id)+areaSize
	return h
}
