package flags

import (
	"fmt"

	"tracewell/target"
)

// Collecting are the options that say how hits become frames. serve and record have the same.
type Collecting struct {
	Pads     bool     `group:"The run:" negatable:"" default:"true" help:"Collect frames by code that is put into the program (a pad) where that is possible (the default); otherwise each hit stops the thread (a trap). Linux on x86-64 only."`
	WhenFull WhenFull `group:"The run:" placeholder:"wait|stop|drop" help:"What to do when frames are made faster than they are taken: let the program wait however long, end the run, or drop frames and count them. By default it waits as long as frames are taken at all; after a second without any, the run ends and the program continues, unless record launched it."`
}

// WhenFull is what becomes of hits for whose frames there is no room.
type WhenFull target.WhenFull

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *WhenFull) UnmarshalText(text []byte) error {
	choice, known := map[string]target.WhenFull{
		"wait": target.AlwaysWait, "stop": target.StopRun, "drop": target.DropFrame,
	}[string(text)]
	if !known {
		return fmt.Errorf("%q is none of wait, stop and drop", text)
	}
	*w = WhenFull(choice)
	return nil
}
