// Package pprofile makes profiles of pprof (profile.proto of github.com/google/pprof), for whoever has stacks and what was counted
// of them.
package pprofile

import (
	"encoding/binary"
	"math"
	"strings"

	"tracewell/internal/protobuf"
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

// Profile is a profile while it is made. What samples refer to has numbers from 1 on in the order in which it was first needed, and
// strings are numbers from 0, which is the empty one.
type Profile struct {
	// Message is the profile so far.
	protobuf.Message
	strings   map[string]uint64
	functions map[[2]string]uint64 // by name and file
	locations map[string]uint64    // by what they consist of
	mappings  map[string]uint64    // by path
}

// Line is a function that is active at a location, and the line that it is in.
type Line struct {
	Function, File string
	Line           int
}

// Label is what a sample is marked with.
type Label struct{ Key, Text string }

// New returns an empty profile.
func New() *Profile {
	p := &Profile{strings: make(map[string]uint64), functions: make(map[[2]string]uint64), locations: make(map[string]uint64),
		mappings: make(map[string]uint64)}
	p.text("") // has to be the first
	return p
}

// SampleType adds a value that each sample has.
func (p *Profile) SampleType(name, unit string) {
	var m protobuf.Message
	m.Uint(valueType, p.text(name))
	m.Uint(valueUnit, p.text(unit))
	p.Bytes(profileSampleType, m)
}

// Sample adds a sample: its locations, the innermost first, and a value for each type.
func (p *Profile) Sample(locations, values []uint64, labels ...Label) {
	var sample protobuf.Message
	sample.Bytes(sampleLocations, packed(locations))
	sample.Bytes(sampleValues, packed(values))
	for _, l := range labels {
		var label protobuf.Message
		label.Uint(labelKey, p.text(l.Key))
		label.Uint(labelText, p.text(l.Text))
		sample.Bytes(sampleLabel, label)
	}
	p.Bytes(profileSample, sample)
}

// Span says when the profile was made, in nanoseconds since 1970, and how long it took.
func (p *Profile) Span(start, duration int64) {
	p.Int(profileTime, start)
	p.Int(profileDuration, duration)
}

func packed(numbers []uint64) (b []byte) {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// text returns the number of a string.
func (p *Profile) text(s string) uint64 {
	n, known := p.strings[s]
	if !known {
		n = uint64(len(p.strings))
		p.strings[s] = n
		p.Text(profileString, s)
	}
	return n
}

// Location returns the number of a place in a file of the program, 0 for none. All lines but the last are of calls that were
// inlined.
func (p *Profile) Location(mapping, addr uint64, lines []Line) uint64 {
	var m protobuf.Message
	m.Uint(locationMapping, mapping)
	m.Uint(locationAddress, addr)
	for _, l := range lines {
		var line protobuf.Message
		line.Uint(lineFunction, p.function(strings.ToValidUTF8(l.Function, "\ufffd"), l.File))
		line.Int(lineNumber, int64(l.Line))
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

func (p *Profile) function(name, file string) uint64 {
	n, known := p.functions[[2]string{name, file}]
	if !known {
		n = uint64(len(p.functions) + 1)
		p.functions[[2]string{name, file}] = n
		var m protobuf.Message
		m.Uint(functionID, n)
		m.Uint(functionName, p.text(name))
		m.Uint(functionSystemName, p.text(name))
		m.Uint(functionFile, p.text(file))
		p.Bytes(profileFunction, m)
	}
	return n
}

// Mapping returns the number of a file of the program. Where its segments lay is not said: everything has its names already, and
// nobody has to look them up in the file.
func (p *Profile) Mapping(path string) uint64 {
	n, known := p.mappings[path]
	if !known {
		n = uint64(len(p.mappings) + 1)
		p.mappings[path] = n
		var m protobuf.Message
		m.Uint(mappingID, n)
		m.Uint(mappingLimit, math.MaxUint64)
		m.Uint(mappingFile, p.text(path))
		m.Uint(mappingHasFunctions, 1)
		p.Bytes(profileMapping, m)
	}
	return n
}
