//go:build !unix

package regularfile

// nonBlocking is 0 where no name in a folder can be that of a FIFO.
const nonBlocking = 0
