package fast

import (
	"sync/atomic"
	"unsafe"
)

// atomicLoad loads the word that b begins with, which lies at a multiple of 8, before what follows it in the program's order: the
// program has written it last.
func atomicLoad(b []byte) uint64 {
	_ = b[7]
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(unsafe.SliceData(b))))
}
