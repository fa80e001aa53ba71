package printing

import (
	"strconv"

	"tracewell/internal/text"
	"tracewell/view"
)

// appendPID appends the process that made the frame, appendTID the thread.
func (w *lineWriter) appendPID(dst []byte, frame view.Frame) []byte {
	return appendID(dst, frame, w.view.ProcessID)
}

func (w *lineWriter) appendTID(dst []byte, frame view.Frame) []byte {
	return appendID(dst, frame, w.view.ThreadID)
}

// appendID appends a number that not every frame has.
func appendID(dst []byte, frame view.Frame, of func(view.Frame) (int64, bool)) []byte {
	id, ok := of(frame)
	if !ok {
		return append(dst, unavailable...)
	}
	return strconv.AppendInt(dst, id, 10)
}

// appendComm appends the name that the thread had. Any program may give itself a name that commands a terminal.
func (w *lineWriter) appendComm(dst []byte, frame view.Frame) []byte {
	name, ok := w.view.Comm(frame)
	if !ok {
		return append(dst, unavailable...)
	}
	return append(dst, text.Visible(name)...)
}
