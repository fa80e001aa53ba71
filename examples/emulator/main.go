// Command emulator is a small emulator of a RISC-V processor, and shows what it takes to give one the whole of GDB's remote
// protocol, tracepoints included: core.go is the emulator, machine.go and run.go make it a target, and the rest is in the library.
//
//	go run ./examples/emulator 127.0.0.1:2345 &
//	gdb-multiarch -ex 'target remote 127.0.0.1:2345'
//	(gdb) trace *0x80000014
//	(gdb) actions
//	> collect $a2, *(int *)0x80001000
//	> end
//	(gdb) tstart
//	(gdb) continue
package main

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"

	"tracewell/stub"
	"tracewell/tracepoint"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: emulator HOST:PORT")
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening at", listener.Addr())
	if err := serve(listener); err != nil && !errors.Is(err, stub.ErrExit) {
		log.Fatal(err)
	}
}

// serve serves one client after another until the program has ended.
func serve(listener net.Listener) error {
	emulated, err := newEmulator()
	if err != nil {
		return err
	}
	layout, err := tracepoint.LayoutOf(emulated)
	if err != nil {
		return err
	}
	server := stub.New(stub.Config{Target: emulated, Engine: tracepoint.New(layout)})
	defer server.Close()
	for !server.Spent() {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		if err := server.Serve(conn); err != nil {
			return err
		}
	}
	return nil
}
