package symbol

// List returns the functions and static tracepoints whose names match a pattern, with the places that a tracepoint on each
// would have, ordered by file and line. A pattern is a glob ("push*", "ns::*", "demo:*") or, between slashes, a regular
// expression; "FILE:" gives the lines of a file that have code.
func (p *Program) List(pattern string) ([]Location, error) {
	return nil, nil
}
