package text

import (
	"fmt"
	"unicode/utf8"
)

// excerpt is how many bytes of a text are quoted.
const excerpt = 40

// Quote quotes the beginning of a text that may be of any length, as error messages do.
func Quote[T string | []byte](s T) string {
	if len(s) <= excerpt {
		return fmt.Sprintf("%q", s)
	}
	cut := excerpt
	for cut > excerpt-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q…", s[:cut])
}

// Plural counts things: "1 byte", "2 bytes".
func Plural[N int | int64 | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
