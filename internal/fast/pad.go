package fast

import "tracewell/arch"

// Pad is the code of a site, and all that has to be known of it to take a thread out of it. Nothing in it changes once it is
// built.
type Pad struct {
	Addr arch.Addr // where it runs, and the jump leads to
	Code []byte
	// Displaced is the offset of the displaced instructions, Back that of the jump behind them.
	Displaced, Back int
	// Slots is what the reader has to know of the site.
	Slots *Slots

	backLength int // of the jump back
	site, next arch.Addr
	key        uint64
	ring       arch.Addr
	rows       []row        // ascending
	faults     []faultRange // ascending
}
