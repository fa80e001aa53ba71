// Package ctf reads and writes traces in the Common Trace Format as GDB's tsave -ctf keeps them.
package ctf
