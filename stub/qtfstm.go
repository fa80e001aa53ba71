package stub

import (
	"errors"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/target"
	"tracewell/tracepoint"
)

// firstMarkers is qTfSTM.
func (x *session) firstMarkers(request.None) ([]byte, error) {
	x.static = list{}
	id, err := x.thread()
	if err == nil {
		var all []*marker
		if all, err = x.markersOf(id.PID); err == nil {
			x.static.items = x.markerReplies(all)
		}
	}
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
			found.items = x.markerReplies([]*marker{m})
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

// markerReplies describes markers in as few replies as they fit in:
//
//	mADDRESS:HEXID:HEXTEXT,...
//
// The id is provider:name, the text the arguments as the program's notes have them.
func (x *session) markerReplies(all []*marker) []string {
	var replies []string
	var reply []byte
	for _, m := range all {
		for _, p := range m.probes {
			one := rsp.AppendHex(nil, uint64(m.addr))
			one = rsp.AppendHexBytes(append(one, ':'), p.Provider+":"+p.Name)
			one = rsp.AppendHexBytes(append(one, ':'), p.Text)
			if len(reply) > 0 && len(reply)+len(",")+len(one) > x.packetSize {
				replies, reply = append(replies, string(reply)), nil
			}
			mark := byte(',')
			if len(reply) == 0 {
				mark = 'm'
			}
			reply = append(append(reply, mark), one...)
		}
	}
	if len(reply) > 0 {
		replies = append(replies, string(reply))
	}
	return replies
}

// findMarker is what the engine finds the marker of a definition by. Without one the engine says so itself.
func (x *session) findMarker(addr arch.Addr) tracepoint.Marker {
	id, err := x.thread()
	if err != nil {
		return nil
	}
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
	return x.frame.Static(), nil
}
