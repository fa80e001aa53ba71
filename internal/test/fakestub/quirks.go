package fakestub

import "time"

// Quirks are the habits of a stub, each independent of all others. The zero Quirks is a stub that does everything a client could
// wish, in the plainest way: without acknowledgments where the client likes, breakpoints of all kinds, descriptions, threads.
type Quirks struct {
	KeepsAcks    bool // QStartNoAckMode is not offered
	Acks         Acks // what comes in place of an acknowledgment
	NoSupported  bool // qSupported is not known; nothing is announced then, and PacketSize holds all the same
	PacketSize   int  // the longest packet either way, but for g and G; 0 for 4096
	DecimalSize  bool // PacketSize is announced in decimal, where clients read hexadecimal
	RunLength    bool // replies are run-length coded
	Running      Running
	Delay        time.Duration // before each reply
	SlowBlock    time.Duration // before the reply to g, in addition
	StopNotice   time.Duration // stops of c are noticed by looking this often, and by "monitor poll" in between
	ConsoleEach  int           // every so many replies, text of the console comes before one: stock GDB takes that for the reply
	ConsoleOnRun bool          // text of the console comes while the machine runs
	KeepAlive    bool          // that text is empty: O alone

	Software       Software   // what Z0 comes to
	InMemory       bool       // Z0 writes an instruction into memory; otherwise memory stays as it was
	Shown          bool       // and reads of memory show it
	Hardware       Some       // how many Z1 there are
	Watchpoints    Some       // how many Z2 to Z4 there are
	Conditions     Conditions // what becomes of those that come with a Z0 or Z1
	ResetClears    bool       // a reset of the machine removes all breakpoints
	UnknownZDrops  bool       // a Z of another kind ends the connection; otherwise it is answered by nothing
	QueryClears    bool       // ? removes all breakpoints
	StepStays      bool       // a step at an inserted breakpoint does not move
	ContinuePasses bool       // c moves on from an inserted breakpoint that was reported; otherwise it is reported again

	DetachKeeps bool // D leaves breakpoints where they are
	NoVCont     bool // Hc with c and s only
	ActsAsOne   bool // vCont and c resume all harts whatever threads they name, and s steps the current one
	OtherFails  bool // c and s are refused after Hc of another thread than the current one
	RangeSteps  bool // vCont;r is there
	FilesEach   int  // every so many resumptions, the program first has the client write FileText to its descriptor 1, and waits for it
	KillResumes bool // k lets the machine run, as D does

	Stop          StopForm
	Reasons       bool // swbreak and hwbreak are announced, and sent to clients that announce them, too
	Expedites     bool // stop replies have sp, fp and pc
	Multiprocess  bool // thread-ids have a process, if the client announces that, too
	ThreadDigits  int  // least number of digits of a process or thread
	SelectFails   bool // Hg and Hc of thread 0 or -1 are answered by an error, and done
	ThreadsAtOnce bool // one reply lists all threads
	NoThreads     bool // threads have no ids: lists are empty, and the current one is 0
	NoThreadList  bool // qfThreadInfo and qsThreadInfo are not there
	NoThreadXfer  bool // qXfer:threads is not there

	NoRegister      bool // p is not there
	NoWriteRegister bool // P is not there
	MemoryLimit     int  // bytes that an m is answered with at most; 0 for no limit but PacketSize
	LongReadFails   bool // an m whose reply would not fit a packet is an error; otherwise it is answered by what fits
	NoBinaryWrite   bool // X is not there
	BinaryRead      bool // x is there, and announced
	NoFeatures      bool // qXfer:features is not there
	NoMemoryMap     bool // qXfer:memory-map is not there
	NoFlash         bool // vFlashErase, vFlashWrite and vFlashDone are not there
	NoMonitor       bool // qRcmd is not there
	MonitorInReply  bool // its text is the reply; otherwise it comes as console text before OK
	NoChecksum      bool // qCRC is not there
	NoRestart       bool // R and ! are not there
	NoSymbols       bool // qSymbol is not there

	Features string            // more items of qSupported
	Replies  map[string]string // packets that begin so have a reply of their own, whatever the switches say; the longest counts
}

// Acks says what a stub does with bytes that come where it expects an acknowledgment. None of it matters when those have ended.
type Acks uint8

const (
	// AnyOrder takes acknowledgments and packets as they come.
	AnyOrder Acks = iota
	// Resends takes the next byte for the acknowledgment, and sends the reply again if it is not (qemu-user).
	Resends
	// Drops drops everything up to the acknowledgment (gdbserver).
	Drops
)

// Running says what a stub does with bytes that come while its machine runs. All of them stop it at ^C.
type Running uint8

const (
	// Waits leaves packets for later: they are answered behind the stop.
	Waits Running = iota
	// Answers answers all that needs no stopped machine, memory among it (OpenOCD).
	Answers
	// StopsAtAnyByte stops the machine by whatever byte, and drops that byte (QEMU's system emulation).
	StopsAtAnyByte
	// Swallows drops everything but ^C (Black Magic).
	Swallows
)

// Software says what a Z0 comes to.
type Software uint8

const (
	// Anywhere inserts it wherever there is memory.
	Anywhere Software = iota
	// InRAM refuses it in flash by an error.
	InRAM
	// Refused refuses it by an error everywhere.
	Refused
	// Unknown answers nothing: the client has to write the instruction itself.
	Unknown
)

// Some is how many there are of something: 0 for any number, None for a stub that does not know the packet.
type Some int

// None is the Some of what is not there at all.
const None Some = -1

// Conditions says what becomes of a breakpoint's conditions.
type Conditions uint8

const (
	// Ignored answers OK, and stops each time, as nearly all stubs do. Nothing was announced.
	Ignored Conditions = iota
	// Obeyed announces ConditionalBreakpoints, and stops where a condition holds or fails to be evaluated.
	Obeyed
	// Rejected answers by an error.
	Rejected
)

// StopForm is the form of stop replies.
type StopForm uint8

const (
	// WithThread is T05thread:ID; with whatever else there is.
	WithThread StopForm = iota
	// BareT is T05 alone, or with the watchpoint that was met.
	BareT
	// BareS is S05.
	BareS
)

// packetSize is how long packets may be.
func (q *Quirks) packetSize() int {
	if q.PacketSize == 0 {
		return 4096
	}
	return q.PacketSize
}
