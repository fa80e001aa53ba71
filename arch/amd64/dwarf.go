package amd64

import "strconv"

// dwarf are the names of the registers by the numbers that DWARF has for them; "" is none.
var dwarf = func() []string {
	names := []string{
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	}
	for i := range 16 {
		names = append(names, "xmm"+strconv.Itoa(i))
	}
	for i := range 8 {
		names = append(names, "st"+strconv.Itoa(i))
	}
	names = append(names, "", "", "", "", "", "", "", "") // mm0 to mm7, which are parts of st0 to st7
	names = append(names, "eflags", "es", "cs", "ss", "ds", "fs", "gs", "", "", "fs_base", "gs_base", "", "", "", "",
		"mxcsr", "fctrl", "fstat")
	for i := range 16 {
		names = append(names, "xmm"+strconv.Itoa(16+i))
	}
	return names
}()
