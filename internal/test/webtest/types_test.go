package webtest

import (
	"path/filepath"
	"testing"

	"tracewell/internal/test/testtool"
)

// TestTypes checks the types that the comments of the page's modules declare.
func TestTypes(t *testing.T) {
	assets, err := filepath.Abs("../../../web/assets")
	if err != nil {
		t.Fatal(err)
	}
	const script = `
const { spawnSync } = require("node:child_process");
const { dirname, join } = require("node:path");
const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
process.exit(spawnSync(process.execPath, [compiler, "-p", process.argv[1]], { stdio: "inherit" }).status ?? 1);`
	if out, err := testtool.Node(t, script, assets).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
