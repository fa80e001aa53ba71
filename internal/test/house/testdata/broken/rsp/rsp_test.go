package rsp

import _ "os"
