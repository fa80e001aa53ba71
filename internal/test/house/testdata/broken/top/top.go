// Package top is as it should be, but for the import of what is for tests only.
package top

import (
	_ "broken/bottom"
	_ "broken/internal/probe"
)
