// Package bottom imports from above and from beside.
package bottom

import (
	_ "broken/beside"
	_ "broken/top"
	_ "broken/unlisted"
)

// Forget starts a goroutine.
func Forget(f func()) { go f() }
