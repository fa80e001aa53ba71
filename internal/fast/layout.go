package fast

// The control area begins at a page and is mapped in the program once for each neighbourhood of pads, which reach it relative to
// their pc. Offsets are in bytes, words are little-endian. What is written at different rates has a cache line of its own. Most of
// the area is never touched, and untouched pages of a shared mapping cost nothing.
const (
	// OwnerAt is a robust futex of 32 bits, held by the tracer's thread: its thread id and the bits of linux/futex.h. Where
	// FUTEX_OWNER_DIED is set all pads are inert, that is they go straight to the displaced instructions. The kernel sets it when
	// the thread ends, Control.SwitchOff does so besides. The 32 bytes before it are for the tracer's list of robust futexes.
	OwnerAt = 0x20
	// LimitAt is the position (64 bits) up to which slots may be written: the reader's and the size of the ring.
	LimitAt = 0x28
	// HeadAt is the position (64 bits) that is reserved next, the only word that all threads contend for.
	HeadAt = 0x40
	// WakeAt is a futex of 32 bits that counts the advances of the limit; threads wait on it for room.
	WakeAt = 0x80
	// WaitsAt counts (64 bits) how often a thread began to wait for room.
	WaitsAt = 0x88
	// NapAt is a struct timespec: how long a thread sleeps for want of room before it looks at the owner again.
	NapAt = 0x90
	// PatienceAt is the number of naps (32 bits) without an advance after which a waiting thread abandons the run; 0 is no limit.
	PatienceAt = 0xa0
	// AbandonedAt is a flag (32 bits): positions were reserved at which nothing will ever be written, as their threads went on
	// without waiting any longer. The run is over.
	AbandonedAt = 0xa8
	// GrantAt is a number of waits (64 bits): those that WaitsAt counted until then may be spent in the kernel. See Reader.LetSleep.
	GrantAt = 0xb0
	// NapSpinsAt is how many pauses (32 bits) are a nap of a thread that spins.
	NapSpinsAt = 0xb8
	// LockAt is a spin lock (32 bits), held from the condition to the commit by sites that set trace state variables, and by the
	// tracer for hits that stop a thread, so that frames come in the order of the values in them.
	LockAt = 0xc0
	// ClockAt is a Clock: time stamp counter at the start, multiplier, and microseconds at the start, of 64 bits each.
	ClockAt = 0x100
	// ProcessAt is the process id (64 bits) that frames tell. A forked child goes on with the pads of its parent.
	ProcessAt = 0x120
	// NanosecondsAt is the same Clock for nanoseconds: their multiplier, and nanoseconds at the start.
	NanosecondsAt = 0x128
	// IdentityAt is what another process needs to make sense of the area: see Identity.
	IdentityAt = 0x140
	// KeptAt is two pairs of words of 64 bits, of which one belongs to the present limit: a position in the ring, and how many
	// bytes of frames the tracer had written to its file when it gave back the room up to there.
	KeptAt = 0x180

	// EnabledAt is a byte for each tracepoint by its index: 0 has pads pass over it.
	EnabledAt = 0x40000
	// VariablesAt is a word of 64 bits for each trace state variable by its number.
	VariablesAt = 0x80000
	// HitsAt is a word of 64 bits for each tracepoint by its index: hits committed, of tracepoints with a pass count only.
	HitsAt = 0x100000
	// LostAt is a word of 64 bits for each tracepoint by its index: frames dropped because the ring was full.
	LostAt = 0x300000
	// DirectoryAt is where the directory of sites begins, by which another process can restore the code.
	DirectoryAt = 0x500000
	// RepeatsAt is the table of Repeats.
	RepeatsAt = 0x1000000
	// ControlSize is the size of the control area.
	ControlSize = RepeatsAt + repeatsSize

	// MaxTracepoints is the number of indexes of tracepoints and of sites.
	MaxTracepoints = 1 << 18
)

// Bits of the word at OwnerAt.
const (
	ownerDied   = 1 << 30
	ownerThread = 1<<30 - 1
)

// A slot in the ring: a header, then the frames. Offsets are in bytes.
const (
	slotCommit  = 0  // 64 bits: the slot's position exclusive-ored with the key
	slotUnits   = 8  // 16 bits: size of the slot in units of slotAlign
	slotFlags   = 10 // 8 bits: see below
	slotPresent = 11 // 8 bits, one for each tracepoint of the site: its frame is there
	slotSite    = 12 // 32 bits: index of the site
	slotHeader  = 16

	slotAlign = 64 // a cache line: threads do not write to each other's, and vector stores never cross one
	maxSlot   = 0xffff * slotAlign
)

// Bits of slotFlags.
const (
	flagShort  = 1 << 0 // a block is shorter than its place
	flagFailed = 1 << 1 // an expression failed
)

// MaxAtSite is the number of tracepoints that one site can have.
const MaxAtSite = 8

// A failure record: what went wrong in one expression. Offsets are in bytes.
const (
	failureID       = 0 // 32 bits: index in the site's table of what can fail, plus 1; 0 for nothing
	failureReadable = 4 // 32 bits: bytes that could be read all the same
	failureAddress  = 8 // 64 bits: address of the memory that could not be read
	failureSize     = 16
)

// Parts of a frame in a trace file.
const (
	frameHeader    = 6  // number, 16 bits; length of what follows, 32 bits
	memoryHeader   = 11 // M, address, 16 bits of length
	variableLength = 13 // V, 32 bits of number, value
	maxBlock       = 0xffff
)
