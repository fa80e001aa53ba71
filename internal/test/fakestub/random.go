package fakestub

import (
	"math/rand/v2"
	"time"
)

// Random returns a stub whose quirks, and machine, are chosen by a seed. Every combination is one that a client can work with, if it
// asks for little and takes nothing for granted. Delays are of a millisecond or two.
func Random(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 0))
	q := randomQuirks(r)
	c := Config{Quirks: q, Harts: 1 + r.IntN(3), InRAM: r.IntN(2) == 0}
	if q.NoThreads || q.Stop != WithThread && q.NoThreadList && q.NoThreadXfer {
		c.Harts = 1 // nobody could tell them apart
	}
	if !c.InRAM && q.Software != Anywhere && (q.Hardware == None || r.IntN(2) == 0) {
		c.InRAM = true // one Z must work somewhere, or memory be writable
	}
	if q.Software == Refused && q.Hardware == None {
		c.Quirks.Software = Unknown // otherwise the refusal is the stub's last word
	}
	if c.Quirks.Hardware == 1 && (!c.InRAM && q.Software != Anywhere || q.Software == Refused) {
		c.Quirks.Hardware = 2 // one for the end of a run
	}
	return c
}

// randomQuirks throws a coin for each switch; rare are those that take time.
func randomQuirks(r *rand.Rand) Quirks {
	flip := func() bool { return r.IntN(2) == 0 }
	rarely := func() bool { return r.IntN(5) == 0 }
	some := func() Some { return []Some{0, None, 1, 2, 4}[r.IntN(5)] }
	while := func(d time.Duration) time.Duration {
		if r.IntN(5) > 0 {
			return 0
		}
		return d
	}
	q := Quirks{
		KeepsAcks: flip(), Acks: Acks(r.IntN(3)), NoSupported: rarely(), PacketSize: []int{0, 256, 600, 1024, 0x4000}[r.IntN(5)],
		DecimalSize: rarely(), RunLength: flip(), Running: Running(r.IntN(4)), Delay: while(time.Millisecond),
		SlowBlock: while(2 * time.Millisecond), StopNotice: while(3 * time.Millisecond), ConsoleOnRun: rarely(), KeepAlive: flip(),
		Software: Software(r.IntN(4)), InMemory: flip(), Shown: flip(), Hardware: some(), Watchpoints: some(),
		Conditions: Conditions(r.IntN(3)), UnknownZDrops: rarely(), QueryClears: flip(), StepStays: flip(), ContinuePasses: flip(),
		DetachKeeps: rarely(), NoVCont: flip(), ActsAsOne: rarely(), OtherFails: rarely(), RangeSteps: flip(), KillResumes: flip(),
		Stop: StopForm(r.IntN(3)), Reasons: flip(), Expedites: flip(), Multiprocess: flip(), ThreadDigits: []int{0, 2, 16}[r.IntN(3)],
		SelectFails: rarely(), ThreadsAtOnce: flip(), NoThreads: rarely(), NoThreadList: flip(), NoThreadXfer: flip(),
		NoRegister: flip(), NoWriteRegister: flip(), MemoryLimit: []int{0, 0, 0, 16, 100}[r.IntN(5)], LongReadFails: rarely(),
		NoBinaryWrite: flip(), BinaryRead: flip(), NoFeatures: rarely(), NoMemoryMap: flip(), NoFlash: flip(), NoMonitor: flip(),
		MonitorInReply: flip(), NoChecksum: flip(), NoRestart: flip(),
	}
	if rarely() {
		q.ConsoleEach = 1 + r.IntN(20)
	}
	if rarely() {
		q.FilesEach = 1 + r.IntN(20)
	}
	if q.NoSupported {
		q.PacketSize = max(q.PacketSize, 600) // what clients take for granted then
	}
	return q
}
