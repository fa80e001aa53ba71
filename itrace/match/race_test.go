//go:build race

package match

// underRace says that the race detector watches, which makes everything ten times slower: what only adds cases is left to the tests
// without it.
const underRace = true
