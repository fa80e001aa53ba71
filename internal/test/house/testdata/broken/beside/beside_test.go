// Package beside has its comment where nobody reads it.
package beside

import _ "unsafe"
