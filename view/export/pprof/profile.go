package pprof

import (
	"encoding/binary"
	"math"
	"strings"

	"tracewell/internal/protobuf"
	"tracewell/symbol"
	"tracewell/view"
)

// The numbers of the fields that are written, by message, as profile.proto has them.
const (
	profileSampleType = 1
	profileSample     = 2
	profileMapping    = 3
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6
	profileTime       = 9 // in nanoseconds since 1970, as is
	profileDuration   = 10

	valueType = 1
	valueUnit = 2

	sampleLocations = 1 // packed, as are the values
	sampleValues    = 2
	sampleLabel     = 3

	labelKey  = 1
	labelText = 2

	mappingID           = 1
	mappingLimit        = 3
	mappingFile         = 5
	mappingHasFunctions = 7

	locationID      = 1
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4

	lineFunction = 1
	lineNumber   = 2

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
	functionFile       = 4
)

// profile is a profile while it is made. What samples refer to has numbers from 1 on in the order in which it was first needed, and
// strings are numbers from 0, which is the empty one.
type profile struct {
	protobuf.Message
	strings   map[string]uint64
	functions map[[2]string]uint64 // by name and file
	locations map[string]uint64    // by what they consist of
	mappings  map[*symbol.Object]uint64
}

// writeProfile writes what was counted.
func (s *Stacks) writeProfile() error {
	p := &profile{
		strings: make(map[string]uint64), functions: make(map[[2]string]uint64), locations: make(map[string]uint64),
		mappings: make(map[*symbol.Object]uint64),
	}
	p.string("") // has to be the first
	p.sampleType("hits", "count")
	if s.value != nil {
		p.sampleType(s.text, "value")
	}
	for _, k := range s.sorted() {
		var sample, label protobuf.Message
		sample.Bytes(sampleLocations, packed(p.stack(k)))
		values := []uint64{uint64(k.count)}
		if s.value != nil {
			values = append(values, uint64(k.sum))
		}
		sample.Bytes(sampleValues, packed(values))
		label.Uint(labelKey, p.string("tracepoint"))
		label.Uint(labelText, p.string(s.view.Source(k.tracepoint)))
		sample.Bytes(sampleLabel, label)
		p.Bytes(profileSample, sample)
	}
	p.Int(profileTime, s.start*1000)
	p.Int(profileDuration, (s.end-s.start)*1000)
	_, err := s.out.Write(p.Message)
	return err
}

func packed(numbers []uint64) (b []byte) {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (p *profile) sampleType(name, unit string) {
	var m protobuf.Message
	m.Uint(valueType, p.string(name))
	m.Uint(valueUnit, p.string(unit))
	p.Bytes(profileSampleType, m)
}

// string returns the number of a string.
func (p *profile) string(s string) uint64 {
	n, known := p.strings[s]
	if !known {
		n = uint64(len(p.strings))
		p.strings[s] = n
		p.Text(profileString, s)
	}
	return n
}

// stack returns the locations of a stack, the innermost first. Calls that were inlined are lines of the location of the function
// that they were inlined into.
func (p *profile) stack(k *stack) []uint64 {
	var locations []uint64
	start := 0
	for i, c := range k.Calls {
		if !c.Inlined || i == len(k.Calls)-1 {
			locations = append(locations, p.location(k.Calls[start:i+1]))
			start = i + 1
		}
	}
	if k.End != nil {
		locations = append(locations, p.location([]view.Call{{Location: symbol.Location{Function: view.CutOff}}}))
	}
	return locations
}

// location returns the number of the place of some calls, of which all but the last are inlined.
func (p *profile) location(calls []view.Call) uint64 {
	outer := calls[len(calls)-1]
	var m protobuf.Message
	m.Uint(locationMapping, p.mapping(outer.Object))
	m.Uint(locationAddress, uint64(outer.Addr))
	for _, c := range calls {
		var line protobuf.Message
		line.Uint(lineFunction, p.function(strings.ToValidUTF8(c.Name(), "\ufffd"), c.File))
		line.Int(lineNumber, int64(c.Line))
		m.Bytes(locationLine, line)
	}
	n, known := p.locations[string(m)]
	if !known {
		n = uint64(len(p.locations) + 1)
		p.locations[string(m)] = n
		m.Uint(locationID, n)
		p.Bytes(profileLocation, m)
	}
	return n
}

func (p *profile) function(name, file string) uint64 {
	n, known := p.functions[[2]string{name, file}]
	if !known {
		n = uint64(len(p.functions) + 1)
		p.functions[[2]string{name, file}] = n
		var m protobuf.Message
		m.Uint(functionID, n)
		m.Uint(functionName, p.string(name))
		m.Uint(functionSystemName, p.string(name))
		m.Uint(functionFile, p.string(file))
		p.Bytes(profileFunction, m)
	}
	return n
}

// mapping returns the number of a file of the program, 0 for none. Where its segments lay is not said: everything has its names
// already, and nobody has to look them up in the file.
func (p *profile) mapping(o *symbol.Object) uint64 {
	if o == nil {
		return 0
	}
	n, known := p.mappings[o]
	if !known {
		n = uint64(len(p.mappings) + 1)
		p.mappings[o] = n
		var m protobuf.Message
		m.Uint(mappingID, n)
		m.Uint(mappingLimit, math.MaxUint64)
		m.Uint(mappingFile, p.string(o.Path()))
		m.Uint(mappingHasFunctions, 1)
		p.Bytes(profileMapping, m)
	}
	return n
}
