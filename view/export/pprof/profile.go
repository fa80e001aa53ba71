package pprof

import (
	"tracewell/internal/pprofile"
	"tracewell/symbol"
	"tracewell/view"
)

// writeProfile writes what was counted.
func (s *Stacks) writeProfile() error {
	p := pprofile.New()
	p.SampleType("hits", "count")
	if s.value != nil {
		p.SampleType(s.text, "value")
	}
	for _, k := range s.sorted() {
		values := []uint64{uint64(k.count)}
		if s.value != nil {
			values = append(values, uint64(k.sum))
		}
		p.Sample(stackOf(p, k), values, pprofile.Label{Key: "tracepoint", Text: s.view.Source(k.tracepoint)})
	}
	p.Span(s.start*1000, (s.end-s.start)*1000)
	_, err := s.out.Write(p.Message)
	return err
}

// stackOf returns the locations of a stack, the innermost first. Calls that were inlined are lines of the location of the function
// that they were inlined into.
func stackOf(p *pprofile.Profile, k *stack) []uint64 {
	var locations []uint64
	start := 0
	for i, c := range k.Calls {
		if !c.Inlined || i == len(k.Calls)-1 {
			locations = append(locations, location(p, k.Calls[start:i+1]))
			start = i + 1
		}
	}
	if k.End != nil {
		locations = append(locations, location(p, []view.Call{{Location: symbol.Location{Function: view.CutOff}}}))
	}
	return locations
}

// location returns the number of the place of some calls, of which all but the last are inlined.
func location(p *pprofile.Profile, calls []view.Call) uint64 {
	outer := calls[len(calls)-1]
	var mapping uint64
	if outer.Object != nil {
		mapping = p.Mapping(outer.Object.Path())
	}
	lines := make([]pprofile.Line, len(calls))
	for i, c := range calls {
		lines[i] = pprofile.Line{Function: c.Name(), File: c.File, Line: c.Line}
	}
	return p.Location(mapping, uint64(outer.Addr), lines)
}
