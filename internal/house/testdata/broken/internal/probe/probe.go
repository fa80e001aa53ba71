// Package probe is for tests.
package probe
