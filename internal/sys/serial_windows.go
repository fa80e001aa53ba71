package sys

import (
	"fmt"
	"math"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// OpenSerial opens a serial line for reading and writing, named COM3 or \\.\COM12, and puts it into the state in which every byte
// arrives as it was sent: eight bits without parity and without flow control. The speed stays what it is, as mode has set it.
func OpenSerial(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(devicePath(path))
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	// Overlapped, as an interrupt is written while a read waits, and reads have deadlines.
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if kind, _ := windows.GetFileType(h); kind == windows.FILE_TYPE_CHAR {
		err = makeRaw(h)
	}
	if err != nil {
		windows.CloseHandle(h)
		return nil, fmt.Errorf("setting up the line %s: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

// devicePath is the name of a device in full: of COM10 and above there is no other.
func devicePath(path string) string {
	number, ok := strings.CutPrefix(strings.ToUpper(strings.TrimSuffix(path, ":")), "COM")
	if ok && number != "" && strings.Trim(number, "0123456789") == "" {
		return `\\.\COM` + number
	}
	return path
}

// Flags of a DCB: no byte ends a file, and the lines that say that this end is there are on.
const (
	dcbBinary      = 1
	dcbTerminalOn  = 1 << 4  // DTR
	dcbRequestSend = 1 << 12 // RTS
)

func makeRaw(h windows.Handle) error {
	var d windows.DCB
	if err := windows.GetCommState(h, &d); err != nil {
		return err
	}
	d.Flags = dcbBinary | dcbTerminalOn | dcbRequestSend
	d.ByteSize, d.Parity, d.StopBits = 8, windows.NOPARITY, windows.ONESTOPBIT
	if err := windows.SetCommState(h, &d); err != nil {
		return err
	}
	// A read returns what is there, and waits for the first byte for as long as can be said, 49 days.
	return windows.SetCommTimeouts(h, &windows.CommTimeouts{
		ReadIntervalTimeout: math.MaxUint32, ReadTotalTimeoutMultiplier: math.MaxUint32, ReadTotalTimeoutConstant: math.MaxUint32 - 1,
	})
}
