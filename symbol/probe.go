package symbol

import (
	"path"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/sdt"
)

// locateProbe finds static tracepoints: NAME, PROVIDER:NAME or OBJECT:PROVIDER:NAME.
func (p *Program) locateProbe(s *spec) ([]Location, error) {
	object, provider, name := "", "", s.probe
	// The order is GDB's. Without a provider the probes of all providers count.
	switch parts := strings.Split(s.probe, ":"); len(parts) {
	case 2:
		provider, name = parts[0], parts[1]
	case 3:
		object, provider, name = parts[0], parts[1], parts[2]
	}
	n := newNearest(name)
	var found []Location
	for _, o := range p.Objects() {
		if object != "" && o.path != object && path.Base(o.path) != object {
			continue
		}
		probes := o.probes().Probes
		for i := range probes {
			probe := &probes[i]
			if probe.Name == name && (provider == "" || probe.Provider == provider) {
				found = append(found, o.atProbe(probe))
				continue
			}
			n.offerAs(probe.Name, probe.Provider+":"+probe.Name)
		}
	}
	if found == nil {
		return nil, &NotFoundError{Spec: s.text, Kind: ProbeName, Name: s.probe, Nearest: n.names()}
	}
	return found, nil
}

// atProbe describes a probe. Its pc is the nop that the macro has left, so there is no prologue to pass.
func (o *Object) atProbe(probe *sdt.Probe) Location {
	l := o.describe(probe.PC)
	l.Probe = probe
	return l
}

// probeAt is the first probe at an address of the file, nil if there is none. Several can share an address where the compiler has
// joined code that is alike; their arguments are alike then, too.
func (o *Object) probeAt(pc arch.Addr) *sdt.Probe {
	probes := o.probes().Probes
	if i := slices.IndexFunc(probes, func(p sdt.Probe) bool { return p.PC == pc }); i >= 0 {
		return &probes[i]
	}
	return nil
}
