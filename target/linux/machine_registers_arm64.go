//go:build linux

package linux

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"tracewell/arch/arm64"
	"tracewell/internal/sys"
	machines "tracewell/tdesc/machine"
)

// Offsets in user_fpsimd_state, the set NT_PRFPREG: v0 to v31, fpsr, fpcr.
const (
	vectorSize  = 16
	numVectors  = 32
	floatStatus = numVectors * vectorSize
	floatSize   = floatStatus + 16
)

// Layout of the set NT_ARM_SVE (struct user_sve_header and what follows; Documentation/arch/arm64/sve.rst). A thread that has not
// used SVE has the form of NT_PRFPREG behind the header.
const (
	sveHeader    = 16
	sveSize      = 0 // 4 bytes: of what is there
	sveLength    = 8 // 2 bytes: of a vector
	sveFlags     = 12
	sveIsSVE     = 1
	numPredicate = 16 // and ffr behind them
	sveRoom      = sveHeader + (numVectors*8+numPredicate+1)*256/8 + 32
)

// sve is where registers lie in the form for SVE, with vectors of so many bytes.
type sve int

func (v sve) vector(n int) int    { return sveHeader + n*int(v) }
func (v sve) predicate(n int) int { return v.vector(numVectors) + n*int(v)/8 }
func (v sve) status() int {
	return sveHeader + (v.predicate(numPredicate+1)-sveHeader+vectorSize-1)/vectorSize*vectorSize
}
func (v sve) size() int { return v.status() + 16 }

// widen makes the form for SVE of whatever the kernel gave, with vectors as the description has them.
func (v sve) widen(state []byte, length int) int {
	if length < sveHeader {
		return length
	}
	header := slices.Clone(state[:sveHeader])
	from := sve(binary.LittleEndian.Uint16(header[sveLength:]))
	is := header[sveFlags]&sveIsSVE != 0
	if is && from == v {
		return v.size()
	}
	was := slices.Clone(state[:length])
	was = append(was, make([]byte, len(state)-length)...)
	clear(state)
	binary.LittleEndian.PutUint32(header[sveSize:], uint32(v.size()))
	binary.LittleEndian.PutUint16(header[sveLength:], uint16(v))
	header[sveFlags] |= sveIsSVE
	copy(state, header)
	status := sveHeader + floatStatus
	for n := range numVectors {
		if is {
			copy(state[v.vector(n):v.vector(n+1)], was[from.vector(n):from.vector(n+1)])
			status = from.status()
		} else {
			copy(state[v.vector(n):], was[sveHeader+n*vectorSize:][:vectorSize])
		}
	}
	for n := range numPredicate + 1 {
		if is {
			copy(state[v.predicate(n):v.predicate(n+1)], was[from.predicate(n):from.predicate(n+1)])
		}
	}
	copy(state[v.status():], was[status:][:8])
	return v.size()
}

// userNames are the registers of NT_PRSTATUS, in its order.
var userNames = func() (names []string) {
	for n := range arm64.SP {
		names = append(names, "x"+strconv.Itoa(n))
	}
	return append(names, "sp", "pc", "cpsr")
}()

// registerPlaces are where the registers of the extended state are, by name.
type registerPlaces map[string]field

// set adds a register set to a file, with registers of 8 bytes. It returns how many of them there are on this machine.
func (p registerPlaces) set(f *registerFile, tid int, set *registerSet, names ...string) int {
	set.state = make([]byte, 8*len(names))
	n, err := sys.GetRegSet(tid, set.number, set.state)
	if err != nil || n < 8 {
		return 0
	}
	for i, name := range names[:n/8] {
		p[name] = field{from: extended, set: len(f.sets), index: 8 * i, width: 8}
	}
	f.sets = append(f.sets, set)
	return n / 8
}

// newRegisterFile implements machine. Of the registers that only some processors have those are there whose sets can be read.
func (aarch64) newRegisterFile(tid int) (*registerFile, error) {
	f, places := &registerFile{}, make(registerPlaces)
	vectors, err := places.vectors(f, tid)
	if err != nil {
		return nil, err
	}
	f.description = machines.AArch64{
		FPU:  true,
		SVE:  vectors,
		Auth: places.set(f, tid, &registerSet{number: sys.RegSetARMPACMask, readOnly: true}, "pauth_dmask", "pauth_cmask") == 2,
		MTE:  places.set(f, tid, &registerSet{number: sys.RegSetARMTagControl}, "tag_ctl") == 1,
		TLS:  places.set(f, tid, &registerSet{number: sys.RegSetARMTLS}, "tpidr", "tpidr2"),
	}.Target()
	return f, f.layOut(func(name string) (field, bool) {
		if i := slices.Index(userNames, name); i >= 0 {
			return field{from: general, index: i, width: 8}, true
		}
		fd, ok := places[name]
		return fd, ok
	})
}

// vectors adds the registers for floating point and vectors: those of SVE, whose length it returns in units of 128 bits, or where
// there is no SVE the others (0).
func (p registerPlaces) vectors(f *registerFile, tid int) (quads int, err error) {
	set, status := &registerSet{number: sys.RegSetARMSVE, state: make([]byte, sveRoom)}, 0
	n, err := sys.GetRegSet(tid, set.number, set.state)
	if err == nil && n >= sveHeader {
		v := sve(binary.LittleEndian.Uint16(set.state[sveLength:]))
		set.loaded = v.widen
		for i := range numVectors {
			p["z"+strconv.Itoa(i)] = field{from: extended, index: v.vector(i), width: int(v)}
		}
		for i := range numPredicate {
			p["p"+strconv.Itoa(i)] = field{from: extended, index: v.predicate(i), width: int(v) / 8}
		}
		p["ffr"] = field{from: extended, index: v.predicate(numPredicate), width: int(v) / 8}
		p["vg"] = field{from: converted, width: 8,
			get: func(state []byte) uint64 { return uint64(binary.LittleEndian.Uint16(state[sveLength:])) / 8 },
			put: func([]byte, uint64) bool { return false }}
		quads, status = int(v)/vectorSize, v.status()
	} else {
		set = &registerSet{number: sys.RegSetFloat, state: make([]byte, floatSize)}
		if n, err = sys.GetRegSet(tid, set.number, set.state); err != nil || n < floatSize {
			return 0, fmt.Errorf("reading the floating-point registers (%d bytes): %w", n, err)
		}
		for i := range numVectors {
			p["v"+strconv.Itoa(i)] = field{from: extended, index: i * vectorSize, width: vectorSize}
		}
		status = floatStatus
	}
	p["fpsr"] = field{from: extended, index: status, width: 4}
	p["fpcr"] = field{from: extended, index: status + 4, width: 4}
	f.sets = append(f.sets, set)
	return quads, nil
}
