package main

import "tracewell/target/linux"

func init() { runIfGuard = linux.RunIfGuard }
