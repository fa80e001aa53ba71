//go:build !linux || !amd64

package trial

import "errors"

// Machine says that nothing is tried here.
func Machine() Result { return Result{Err: errors.ErrUnsupported} }
