package jump

import (
	"bytes"
	"strings"

	"tracewell/arch"
)

// A pad of a Go program uses a few words of the stack. The functions of Go check before they run that some hundred bytes are left;
// those that do not check live on that remainder, and the linker sees to it that no chain of them uses more than it all. In
// programs' own code such chains are short. In the runtime and below they are made to measure, and one that is at its
// end has no word left.

// unchecked are the packages whose functions without a check may be at the end of a long chain: the runtime, and what enters the
// kernel.
var unchecked = []string{
	"runtime.", "runtime/", "internal/runtime/", "internal/abi.", "internal/bytealg.", "internal/cpu.", "syscall.", "reflect.",
	"sync/atomic.",
}

// The instructions of a check: the limit is at 16(%r14), and is compared with the stack pointer or, in functions with large frames,
// with what will become of it.
var stackChecks = [][]byte{{0x49, 0x3b, 0x66, 0x10}, {0x4d, 0x3b, 0x66, 0x10}}

// maxCheck is how far behind the beginning of a function its check can begin.
const maxCheck = 32

// stackCheck returns the address behind the check of the stack with which a function begins, 0 if it has none.
func stackCheck(code []byte, at arch.Addr) arch.Addr {
	head := code[:min(len(code), maxCheck)]
	for _, check := range stackChecks {
		if i := bytes.Index(head, check); i >= 0 {
			return at + arch.Addr(i+len(check))
		}
	}
	return 0
}

// mayLackStack reports whether a location is in a function of Go's runtime where the stack may have no room for a pad: one that
// does not check it, or in front of its check. Names without a package are assembly that the runtime and its like call.
func mayLackStack(name string, addr arch.Addr, f Function) bool {
	if f.Checked != 0 && addr >= f.Checked {
		return false
	}
	if name != "" && !strings.Contains(name, ".") {
		return true
	}
	for _, prefix := range unchecked {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
