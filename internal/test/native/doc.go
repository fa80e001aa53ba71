// Package native runs machine code in the process of a test, so that what was assembled can be held against what it should do. It is
// for Linux. Only tests import this package.
package native
