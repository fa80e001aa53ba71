// A program of Go and C. Its C function keeps what it computes below the stack pointer, where a function of Go has nothing.
package main

/*
__attribute__((noinline)) static long leaf(long n)
{
    long sum;
    __asm__("mov %1, -8(%%rsp)\n movq $3, -64(%%rsp)\n .globl leaf_site\n leaf_site: nopl 0(%%rax,%%rax)\n"
            " mov -8(%%rsp), %0\n add -64(%%rsp), %0" : "=&r" (sum) : "r" (n) : "memory");
    return sum;
}
*/
import "C"

import "fmt"

func main() {
	wrong := 0
	for n := range 2000 {
		if int(C.leaf(C.long(n))) != n+3 {
			wrong++
		}
	}
	fmt.Printf("done wrong=%d\n", wrong)
}
