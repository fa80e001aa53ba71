package target

import "os"

// Streams are what programs that a target starts have for standard streams; nil is this process's own. A program takes the
// terminal's foreground if In is a terminal.
type Streams struct{ In, Out, Err *os.File }

// unknownSignal is GDB's number for a signal that has none.
const unknownSignal Signal = 143

// linuxSignals gives GDB's number for each kernel signal of Linux on most processors, x86-64 among them. GDB's list follows old
// BSD up to 31 and grew as systems came along (GDB prints it by "info signals").
var linuxSignals = func() (numbers [65]Signal) {
	copy(numbers[1:], []Signal{
		1, 2, 3, 4, 5, 6, 10, 8, 9, 30, 11, 31, 13, 14, 15, unknownSignal,
		20, 19, 17, 18, 21, 22, 16, 24, 25, 26, 27, 28, 23, 32, 12,
	})
	numbers[32], numbers[64] = 77, 78
	for number := 33; number < 64; number++ {
		numbers[number] = Signal(45 + number - 33)
	}
	return numbers
}()

// SignalOfLinux is GDB's number for a kernel signal of Linux, that of a signal without a number if it has none.
func SignalOfLinux(number int) Signal {
	if number > 0 && number < len(linuxSignals) {
		return linuxSignals[number]
	}
	return unknownSignal
}

// LinuxSignal is the number that the kernel of Linux has for GDB's, 0 for none.
func LinuxSignal(s Signal) int {
	if s == SignalNone || s == unknownSignal {
		return 0
	}
	for number, known := range linuxSignals {
		if known == s {
			return number
		}
	}
	return 0
}
