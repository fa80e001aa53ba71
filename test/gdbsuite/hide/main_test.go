package main

import "testing"

// TestHidden has what gdbserver 13.1 announces, and packets of GDB's, go through the relay.
func TestHidden(t *testing.T) {
	const announced = "PacketSize=47ff;QPassSignals+;qXfer:features:read+;ConditionalTracepoints+;TraceStateVariables+;" +
		"TracepointSource+;DisconnectedTracing+;FastTracepoints+;StaticTracepoints+;InstallInTrace+;qXfer:statictrace:read+;qXfer:traceframe-info:read+;" +
		"EnableDisableTracepoints+;QTBuffer:size+;tracenz+;ConditionalBreakpoints+;vContSupported+"
	const left = "PacketSize=47ff;QPassSignals+;qXfer:features:read+;ConditionalBreakpoints+;vContSupported+"
	if got := string(answered([]byte(announced))); got != left {
		t.Errorf("the client reads %q, want %q", got, left)
	}
	for packet, want := range map[string]string{
		"QTinit": "qUnknown", "QTDP:1:401000:E:0:0-": "qUnknown", "qTStatus": "qUnknown", "qTfV": "qUnknown", "qTBuffer:0,4": "qUnknown",
		"qThreadExtraInfo,p1.1": "qThreadExtraInfo,p1.1", "QStartNoAckMode": "QStartNoAckMode", "m401000,8": "m401000,8",
	} {
		if got := string(asked([]byte(packet))); got != want {
			t.Errorf("%s reaches the stub as %s, want %s", packet, got, want)
		}
	}
	if got := string(frame(nil, '$', []byte("m1,}\x03"))); got != "$m1,}\x03#4a" {
		t.Errorf("framed: %q", got)
	}
}
