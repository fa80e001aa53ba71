// Command ahead compiles the programs that tests trace for tests that will run where there is no compiler:
//
//	ahead COMPILER FOLDER SEEN
//
// The folder will be named SEEN where the tests run. Programs that do not compile are named, and no reason to fail: some have code of
// one processor in them, and a test that asks for one of these fails.
package main

import (
	"fmt"
	"os"

	"tracewell/internal/test/testprog"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: ahead COMPILER FOLDER SEEN")
		os.Exit(2)
	}
	if err := testprog.Ahead(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
