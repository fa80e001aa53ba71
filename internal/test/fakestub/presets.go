package fakestub

import "time"

// Stubs with the habits of known ones, as far as a client notices: by recorded sessions of QEMU 7.2, OpenOCD 0.12, Valgrind 3.19 and
// gdbserver 16, and by the sources of the others. Their machine is the one of this package all the same.
var (
	// Plain has no quirks.
	Plain = Quirks{}

	// QEMUSystem is QEMU's system emulation. Acknowledgments stay; any byte stops the machine.
	QEMUSystem = Quirks{
		KeepsAcks: true, Running: StopsAtAnyByte, QueryClears: true, Multiprocess: true, ThreadDigits: 2, NoBinaryWrite: true,
		NoMemoryMap: true, NoThreadXfer: true, NoFlash: true, NoChecksum: true, LongReadFails: true, NoSymbols: true,
		Replies: map[string]string{"qqemu.sstepbits": "ENABLE=1,NOIRQ=2,NOTIMER=4", "qqemu.PhyMemMode": "0"},
	}
	// QEMUUser is QEMU's emulation of a process, which sends each reply again until it is acknowledged.
	QEMUUser = Quirks{
		KeepsAcks: true, Acks: Resends, QueryClears: true, Multiprocess: true, ThreadDigits: 2, NoBinaryWrite: true,
		NoMemoryMap: true, NoThreadXfer: true, NoFlash: true, NoChecksum: true, LongReadFails: true, NoSymbols: true,
		NoMonitor: true, Watchpoints: None,
		Replies: map[string]string{"qqemu.sstepbits": "ENABLE=1,NOIRQ=2,NOTIMER=4"},
	}
	// OpenOCD is OpenOCD with one processor and two comparators for each purpose, its interval of 100 ms shortened to 20. Software
	// breakpoints are in memory for all to see, a step at one of them does not move, and an unknown kind ends the connection.
	OpenOCD = Quirks{
		PacketSize: 0x4000, Running: Answers, StopNotice: 20 * time.Millisecond, ConsoleOnRun: true, KeepAlive: true,
		InMemory: true, Shown: true, Software: InRAM, Hardware: 2, Watchpoints: 2, UnknownZDrops: true, StepStays: true,
		ActsAsOne: true, Stop: BareT, NoThreads: true, SlowBlock: time.Millisecond, NoThreadList: true,
		Replies: map[string]string{"?": "S05", "qOffsets": "Text=0;Data=0;Bss=0", "qThreadExtraInfo": ""},
	}
	// BlackMagic is a Black Magic Probe: no Z0, few comparators, deaf while the machine runs.
	BlackMagic = Quirks{
		PacketSize: 0x400, Running: Swallows, Software: Unknown, Hardware: 6, Watchpoints: 4, Stop: BareT, NoVCont: true, NoThreads: true,
		NoRegister: true, NoWriteRegister: true,
	}
	// VGDB is Valgrind's: no vCont, H of any thread fails, stop replies carry three registers, all of it run-length coded.
	VGDB = Quirks{
		PacketSize: 0x3fff, RunLength: true, NoVCont: true, SelectFails: true, Expedites: true, NoThreadXfer: true, NoMemoryMap: true,
		NoFlash: true, Watchpoints: None, MonitorInReply: true, ActsAsOne: true,
		Features: "QPassSignals+;QCatchSyscalls+;qXfer:auxv:read+", Replies: map[string]string{"QPassSignals:": "OK", "qXfer:auxv:read::": "l"},
	}
	// KGDB is the Linux kernel's: not even qSupported.
	KGDB = Quirks{
		KeepsAcks: true, NoSupported: true, PacketSize: 0x400, NoVCont: true, NoFeatures: true, NoMemoryMap: true, NoThreadXfer: true,
		ThreadDigits: 16, NoFlash: true, NoChecksum: true, InMemory: true, OtherFails: true, KillResumes: true,
		Hardware: 4, Watchpoints: 4, NoRestart: true, NoSymbols: true,
	}
	// Renode writes the size of its packets in decimal.
	Renode = Quirks{
		KeepsAcks: true, PacketSize: 1024, DecimalSize: true, Reasons: true, NoMemoryMap: true, NoFlash: true,
	}
	// Gdbserver is gdbserver where it has breakpoints of its own: in memory but hidden, with conditions that it obeys.
	Gdbserver = Quirks{
		PacketSize: 0x2001f, Acks: Drops, InMemory: true, StepStays: true, Multiprocess: true, Reasons: true, Expedites: true, Conditions: Obeyed,
		RangeSteps: true, NoMemoryMap: true, NoFlash: true, NoRestart: true,
		Features: "QPassSignals+;QNonStop+", Replies: map[string]string{"QPassSignals:": "OK", "QNonStop:0": "OK", "Hc-1": "E01"},
	}
	// GdbserverWithout is gdbserver where it has none (RISC-V): the client writes them.
	GdbserverWithout = Quirks{
		PacketSize: 0x2001f, Acks: Drops, Multiprocess: true, Reasons: true, Expedites: true, Software: Unknown, Hardware: None, Watchpoints: None,
		NoMemoryMap: true, NoFlash: true, NoRestart: true,
		Features: "QPassSignals+;QNonStop+", Replies: map[string]string{"QPassSignals:": "OK", "QNonStop:0": "OK", "Hc-1": "E01"},
	}
)

// Presets are the stubs above by their names.
var Presets = map[string]Quirks{
	"plain": Plain, "qemu-system": QEMUSystem, "qemu-user": QEMUUser, "openocd": OpenOCD, "black-magic": BlackMagic, "vgdb": VGDB,
	"kgdb": KGDB, "renode": Renode, "gdbserver": Gdbserver, "gdbserver-without": GdbserverWithout,
}
