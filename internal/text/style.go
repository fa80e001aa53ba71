package text

// Style is whether to use colour. The zero value is plain text.
type Style struct{ Colour bool }

// The sequences of ECMA-48 that are used.
const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

// Heading makes s stand out.
func (st Style) Heading(s string) string { return st.wrap(bold, s) }

// Faint takes s back.
func (st Style) Faint(s string) string { return st.wrap(dim, s) }

func (st Style) wrap(sequence, s string) string {
	if !st.Colour || s == "" {
		return s
	}
	return sequence + s + reset
}
