// Package bottom imports from above and from beside.
package bottom

import (
	"sync"

	_ "broken/beside"
	_ "broken/top"
	_ "broken/unlisted"
)

// Forget starts a goroutine.
func Forget(f func()) { go f() }

// Gather waits for goroutines.
func Gather(all *sync.WaitGroup) { all.Wait() }
