package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracewell/internal/jsontext"
	"tracewell/rsp"
)

// Profile is what there is to know of a kind of stub before anything is asked of it. The zero Profile is that of a stub of which
// nothing is known, and right for all that take registers: each field but Steps and Traps spares something where it holds.
type Profile struct {
	Name string `json:"name"`
	// Acks says how packets of the stub are acknowledged where it cannot do without (QStartNoAckMode): by default one by one.
	Acks Acks `json:"acks,omitempty"`
	// Ahead says that packets may be sent before the reply to the last one has come.
	Ahead bool `json:"ahead,omitempty"`
	// Step says what a step does where a breakpoint is inserted at the pc: by default that is found out.
	Step Stepping `json:"step,omitempty"`
	// Meets says that a program which is continued from a breakpoint that is inserted stops there at once.
	Meets bool `json:"meets,omitempty"`
	// Eats says that a step may end before it has executed anything, where an interrupt is due, so that the pc has to be looked at.
	Eats bool `json:"eats,omitempty"`
	// Selects says that a stop selects its thread for g and m, as Hg does.
	Selects bool `json:"selects,omitempty"`
	// Single says that a register by p costs much less than all of them by g.
	Single bool `json:"single,omitempty"`
	// Steps says that breakpoints are passed by steps even where the effects of the instruction are known: the stub takes no
	// registers, or keeps account of what the program does (Valgrind), or a step costs less than a few packets.
	Steps bool `json:"steps,omitempty"`
	// Traps says that hits are to stop the program, though the stub has tracepoints of its own.
	Traps bool `json:"traps,omitempty"`
	// StopMicroseconds is about how long it takes to continue the program and to stop it again, until that has been measured; 0
	// if it is not known.
	StopMicroseconds int `json:"stop_us,omitempty"`
	// Deaf says that interrupts are not looked at while the program runs, so that the silence behind one means nothing.
	Deaf bool `json:"deaf,omitempty"`
}

// Acks is a way to acknowledge.
type Acks string

// The ways. A packet that follows a reply implies that this has come.
const (
	AcksEach    Acks = ""
	AcksImplied Acks = "implied"
)

// Stepping is what a step does where a breakpoint is inserted.
type Stepping string

// What it may do.
const (
	StepUnknown Stepping = ""
	StepInPlace Stepping = "in place" // it executes the instruction
	StepLifted  Stepping = "lifted"   // nothing, or worse: the breakpoint has to be removed for it
)

// known are the stubs that are known, by what was measured of them: QEMU 7.2, Valgrind 3.19, OpenOCD 0.12, gdbserver 13.1.
var known = []struct {
	Profile
	is func(f rsp.Features, ask func(packet string) string) bool
}{
	{Profile{Name: "qemu-system", Acks: AcksImplied, Ahead: true, Step: StepInPlace, Meets: true, Eats: true, Selects: true,
		StopMicroseconds: 300},
		func(f rsp.Features, ask func(string) string) bool { return isQEMU(f) && ask("qqemu.PhyMemMode") != "" }},
	{Profile{Name: "qemu-user", Step: StepInPlace, Meets: true, Selects: true, Deaf: true, StopMicroseconds: 100},
		func(f rsp.Features, ask func(string) string) bool { return isQEMU(f) && ask("qqemu.sstepbits") != "" }},
	{Profile{Name: "vgdb", Step: StepInPlace, Steps: true, StopMicroseconds: 100},
		func(f rsp.Features, _ func(string) string) bool {
			return f.Value("PacketSize") == "3fff" && f.Has("QCatchSyscalls") && !f.Has("vContSupported")
		}},
	{Profile{Name: "openocd", Step: StepLifted, Meets: true, Single: true, StopMicroseconds: 50000},
		func(f rsp.Features, _ func(string) string) bool {
			return f.Value("PacketSize") == "4000" && f.Has("qXfer:threads:read") && f.Has("QStartNoAckMode") && !f.Has("multiprocess")
		}},
	{Profile{Name: "gdbserver", Ahead: true, Step: StepLifted, Meets: true, Selects: true},
		func(f rsp.Features, _ func(string) string) bool {
			return f.Has("ConditionalTracepoints") && f.Has("QNonStop")
		}},
}

func isQEMU(f rsp.Features) bool {
	return f.Value("PacketSize") == "1000" && f.Has("qXfer:features:read") && f.Has("vContSupported") && f.Has("multiprocess")
}

// unknownName is the name of the profile of any other stub.
const unknownName = "unknown"

// recognise finds the profile of a stub by its features, and by harmless questions.
func recognise(f rsp.Features, ask func(packet string) string) Profile {
	for _, k := range known {
		if k.is(f, ask) {
			return k.Profile
		}
	}
	return Profile{Name: unknownName}
}

// ProfileNames are the names that ProfileByName knows.
func ProfileNames() []string {
	names := []string{unknownName}
	for _, k := range known {
		names = append(names, k.Name)
	}
	return names
}

// ProfileByName is the profile of a known stub, or the one that is right for all.
func ProfileByName(name string) (Profile, bool) {
	for _, k := range known {
		if k.Name == name {
			return k.Profile, true
		}
	}
	return Profile{Name: unknownName}, name == unknownName
}

// ParseProfile reads a profile as JSON, with the fields that String prints.
func ParseProfile(text []byte) (Profile, error) {
	var p Profile
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("this is no profile: %w", err)
	}
	switch {
	case !slices.Contains([]Acks{AcksEach, AcksImplied}, p.Acks):
		return p, fmt.Errorf("acks: %q is neither %q nor empty", p.Acks, AcksImplied)
	case !slices.Contains([]Stepping{StepUnknown, StepInPlace, StepLifted}, p.Step):
		return p, fmt.Errorf("step: %q is neither %q nor %q nor empty", p.Step, StepInPlace, StepLifted)
	case p.StopMicroseconds < 0:
		return p, fmt.Errorf("stop_us: %d, expected microseconds", p.StopMicroseconds)
	case p.Name == "":
		return p, errors.New("the profile has no name")
	}
	return p, nil
}

// String gives the profile as JSON.
func (p Profile) String() string {
	var b strings.Builder
	_ = jsontext.Write(&b, p, "  ") // of strings and truth values there is no error
	return strings.TrimSpace(b.String())
}
