// Package proxytest holds "tracewell proxy" to what real peers do: bare machines, processes and a Linux kernel under QEMU, a
// process under Valgrind, gdbserver, "tracewell serve" and "tracewell replay", each driven by stock gdb-multiarch through the
// proxy. What GDB finds in the frames is compared with what the programs keep of themselves (package firmware). It is tests only.
// The whole of it is "make prove-proxy"; make test has some of the peers.
package proxytest
