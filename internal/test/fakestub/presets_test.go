package fakestub

import "testing"

// asked is what GDB says first.
const asked = "qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+;fork-events+;vfork-events+;exec-events+;vContSupported+;no-resumed+"

// TestPresets has the talks of recorded sessions: GDB 13 with QEMU 7.2 (two harts), Valgrind 3.19, OpenOCD 0.12 and gdbserver 16. The
// addresses are of the machine here, and so is what registers hold.
func TestPresets(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		talk   string
	}{
		"QEMUSystem": {Config{Quirks: QEMUSystem, Harts: 2}, `
			` + asked + ` => PacketSize=1000;qXfer:features:read\+;vContSupported\+;multiprocess\+
			vMustReplyEmpty =>
			Hgp0.0 => OK
			qXfer:features:read:target.xml:0,ffb => [lm].*
			qTStatus =>
			? => T05thread:p01.01;
			qfThreadInfo => mp01.01
			qsThreadInfo => mp01.02
			qsThreadInfo => l
			qAttached:1 => 1
			Hc-1 => OK
			qOffsets =>
			qSymbol:: =>
			Z0,W,2 => OK
			vCont? => vCont;c;C;s;S
			vCont;c:p1.-1 => T05thread:p01.01;
			z0,W,2 => OK
			Z0,S,2 => OK
			vCont;c:p1.1 => T05thread:p01.01;
			z0,S,2 => OK
			Hgp1.2 => OK
			Z1,W,2 => OK
			z1,W,2 => OK
			Z2,80010000,4 => OK
			vCont;c:p1.-1 => T05watch:80010000;thread:p01.0[12];
			QStartNoAckMode =>
			QTinit =>
			qqemu.sstepbits => ENABLE=1,NOIRQ=2,NOTIMER=4
			qqemu.PhyMemMode => 0
			qXfer:memory-map:read::0,400 =>
			X20000000,0: =>
			Z0,W,2;X1,22 => OK
			qC => QCp01.0[12]
			mR,900 => E22
			qRcmd,68656c70 => O.*
			=> OK
			D;1 => OK`},
		"VGDB": {Config{Quirks: VGDB}, `
			` + asked + ` => PacketSize=3fff;QStartNoAckMode\+;.*
			vMustReplyEmpty =>
			QStartNoAckMode => OK
			Hg0 => E01
			qTStatus =>
			? => T0502:[0-9a-f]{16};08:[0-9a-f]{16};20:[0-9a-f]{16};thread:1;
			qfThreadInfo => m1
			qsThreadInfo => l
			Hc-1 => E01
			qOffsets =>
			qSymbol:: => OK
			Z0,W,2 => OK
			QPassSignals:e;10;14; => OK
			vCont? =>
			Hc0 => E01
			c => T0502:.*thread:1;
			z0,W,2 => OK
			Hc1 => OK
			s => T0502:.*thread:1;
			Z2,80010000,4 =>
			D => OK`},
		"OpenOCD": {Config{Quirks: OpenOCD, InRAM: true}, `
			` + asked + ` => PacketSize=4000;.*
			vMustReplyEmpty =>
			QStartNoAckMode => OK
			Hg0 => OK
			qTStatus =>
			? => S05
			qXfer:threads:read::0,1000 => l<\?xml version="1.0"\?>\n<threads>\n</threads>\n
			Hc-1 => OK
			qC => QC0
			qAttached => 1
			qOffsets => Text=0;Data=0;Bss=0
			qSymbol:: => OK
			Z0,W,2 => OK
			vCont? => vCont;c;C;s;S
			vCont;c => O
			=> T05
			z0,W,2 => OK
			vCont;s:0;c:0 => O
			=> T05
			Z1,W,2 => OK
			Z1,L,2 => OK
			Z1,S,2 => E0E
			X80080000,0: => OK
			x80080000,4 =>
			Z0,W,2;X1,22 => OK
			QNonStop:1 => `},
		"Gdbserver": {Config{Quirks: Gdbserver}, `
			` + asked + ` => PacketSize=2001f;.*
			vMustReplyEmpty =>
			QStartNoAckMode => OK
			Hgp0.0 => OK
			QNonStop:0 => OK
			? => T0502:.*;thread:p1.1;
			qXfer:threads:read::0,1000 => l<.*<thread id="p1.1" core="0".*
			qAttached:1 => 1
			Hc-1 => E01
			Z0,W,2 => OK
			vCont? => vCont;c;C;s;S;r
			vCont;c:p1.-1 => T05swbreak:;.*thread:p1.1;
			z0,W,2 => OK
			vCont;s:p1.1 => T0502:.*thread:p1.1;
			D;1 => OK`},
		"GdbserverWithout": {Config{Quirks: GdbserverWithout, InRAM: true}, `
			` + asked + ` => PacketSize=2001f;.*
			QStartNoAckMode => OK
			Z0,W,2 =>
			XW,0: => OK
			MW,2:0290 => OK
			vCont? => vCont;c;C;s;S
			vCont;c:p1.-1 => T05swbreak:;.*thread:p1.1;`},
		"KGDB": {Config{Quirks: KGDB, Harts: 2, Passes: 1, Exits: true}, `
			` + asked + ` =>
			? => T05thread:0000000000000001;
			qfThreadInfo => m0000000000000001
			Hc2 => OK
			s => E01
			Hc-1 => OK
			c => W00`},
	} {
		t.Run(name, func(t *testing.T) {
			converse(t, New(test.config)).follow(test.talk)
		})
	}
}
