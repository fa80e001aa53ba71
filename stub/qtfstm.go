package stub

import (
	"errors"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tracepoint"
)

// firstMarkers is qTfSTM.
func (x *session) firstMarkers(request.None) ([]byte, error) {
	// Read anew with each qTfSTM, since libraries may have come; see markersOf for what is read again.
	var all []*marker
	id, err := x.thread()
	if err == nil {
		all, err = x.markersOf(id.PID)
	}
	x.static = x.markerList(all...)
	return x.static.advance(), unlessNoProcess(err)
}

// moreMarkers is qTsSTM.
func (x *session) moreMarkers(request.None) ([]byte, error) { return x.static.advance(), nil }

// markerHere is qTSTMat.
func (x *session) markerHere(addr arch.Addr) ([]byte, error) {
	found := list{}
	id, err := x.thread()
	if err == nil {
		var m *marker
		if m, err = x.markerAt(id.PID, addr); m != nil {
			found = x.markerList(m)
		}
	}
	return found.advance(), unlessNoProcess(err)
}

// unlessNoProcess drops the error that there is no process: one that is not there has no markers.
func unlessNoProcess(err error) error {
	if errors.Is(err, target.ErrNoProcess) {
		return nil
	}
	return err
}

// markerList describes markers. The id is provider:name, the text the arguments as the program's notes have them.
func (x *session) markerList(all ...*marker) list {
	var described []reply.Marker
	for _, m := range all {
		for _, p := range m.probes {
			described = append(described, reply.Marker{Addr: m.addr, ID: p.Provider + ":" + p.Name, Text: p.Text})
		}
	}
	return pages(reply.Markers, described, x.packetSize)
}

// findMarker is what the engine finds the marker of a definition by. Without one the engine says so itself.
func (x *session) findMarker(addr arch.Addr) tracepoint.Marker {
	id, err := x.thread()
	if err != nil {
		return nil
	}
	// A nil *marker in the interface would not be nil.
	if m, err := x.markerAt(id.PID, addr); m != nil && err == nil {
		return m
	}
	return nil
}

// staticDocument is qXfer:statictrace:read. A frame without such data has an empty one.
func (x *session) staticDocument(annex string) ([]byte, error) {
	if annex != "" {
		return nil, errNoAnnex(annex)
	}
	if x.frame == nil {
		return nil, errNoFrame
	}
	// GDB reads it for $_sdata.
	return x.frame.Static(), nil
}
