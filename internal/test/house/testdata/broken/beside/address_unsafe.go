package beside

import "C"
import _ "unsafe"
