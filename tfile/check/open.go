package check

import (
	"slices"

	"tracewell/tfile"
)

// Open opens a trace file for a check: as tfile.Open does, or with its recovery if it ends early that way and more frames can be
// found so. open is a function that opens the file with options, and the results are those of tfile.Open. Recovery is not the
// first choice because it takes no frame on trust: where all headers lead on to one another the frames are where these say.
func Open(open func(opts ...tfile.Option) (*tfile.File, error)) (*tfile.File, error) {
	// A file whose last frame is cut off opens without recovery, too: its error says where, and --fix keeps what is
	// whole of it.
	plain, err := open()
	if plain == nil || err == nil && !slices.ContainsFunc(plain.Findings(), trails) {
		return plain, err
	}
	recovered, recoveryErr := open(tfile.WithRecovery())
	if recovered == nil || recovered.NumFrames() <= plain.NumFrames() {
		return plain, err
	}
	return recovered, recoveryErr
}

// trails reports whether a finding is that something follows the end marker, which may be a number that was damaged.
func trails(f tfile.Finding) bool { return f.Rule == tfile.RuleTrailing }
