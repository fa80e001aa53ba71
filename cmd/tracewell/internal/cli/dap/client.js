// A session by the client that VS Code's own adapters are tested with. Arguments: the program tracewell, a folder with run.log, prog
// and prog.c of gen-trace, and a line of prog.c. It prints what it has seen as JSON.
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const [tracewell, folder, line] = process.argv.slice(1);

async function main() {
  const client = new DebugClient(tracewell, "dap", "tracewell");
  client.defaultTimeout = 60000;
  await client.start();
  const seen = {};
  await Promise.all([
    client.waitForEvent("initialized").then(async () => {
      const set = await client.setBreakpointsRequest({ source: { path: folder + "/prog.c" }, breakpoints: [{ line: Number(line) }] });
      seen.verified = set.body.breakpoints[0].verified;
      return client.configurationDoneRequest();
    }),
    client.launch({ trace: folder + "/run.log", program: folder + "/prog" }),
    client.assertStoppedLocation("entry", {}),
  ]);
  const [, stack] = await Promise.all([
    client.continueRequest({ threadId: 1 }),
    client.assertStoppedLocation("breakpoint", { path: folder + "/prog.c", line: Number(line) }),
  ]);
  seen.calls = stack.body.stackFrames.map((f) => f.name);
  const scopes = await client.scopesRequest({ frameId: stack.body.stackFrames[0].id });
  seen.scopes = scopes.body.scopes.map((s) => s.name);
  await Promise.all([client.stepBackRequest({ threadId: 1 }), client.waitForEvent("stopped")]);
  await Promise.all([client.nextRequest({ threadId: 1 }), client.waitForEvent("stopped")]);
  await client.stop();
  process.stdout.write(JSON.stringify(seen));
  process.exit(0);
}

main().catch((err) => {
  process.stderr.write(String(err && err.stack) + "\n");
  process.exit(1);
});
