package check

import "io"

// Change is something that is other in a fixed file than in the one that was checked.
type Change struct {
	Offset int64 // in the file that was checked
	Text   string
}

// Fix writes a trace file of what can be saved.
func (r *Report) Fix(w io.Writer, progress func(done int64)) ([]Change, error) {
	return nil, nil
}
