// A session by the client that VS Code's own adapters are tested with. Arguments: the program tracewell, a folder with run.log, prog
// and prog.c of gen-trace, and a line of prog.c. It prints what it has seen as JSON.
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const [tracewell, folder, line] = process.argv.slice(1);

async function main() {
  const client = new DebugClient(tracewell, "dap", "tracewell");
  client.defaultTimeout = 60000;
  await client.start();
  const seen = { answered: [], refused: [] };
  const send = client.send.bind(client);
  client.send = async (command, args) => {
    const response = await send(command, args);
    seen.answered.push(command);
    return response;
  };
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
  await others(client, seen, { path: folder + "/prog.c" });
  await client.stop();
  process.stdout.write(JSON.stringify(seen));
  process.exit(0);
}

// Every other request once. Those that move are over when the adapter has told of the stop.
async function others(client, seen, source) {
  const threadId = 1;
  const ask = async (command, args = {}) => {
    try {
      return (await client.send(command, args)).body;
    } catch (err) {
      seen.refused.push(command + ": " + err.message);
      return {};
    }
  };
  const move = (command, args = {}) => Promise.all([client.send(command, { threadId, ...args }), client.waitForEvent("stopped")]);
  const top = (await client.stackTraceRequest({ threadId })).body.stackFrames[0];
  const scopes = (await client.scopesRequest({ frameId: top.id })).body.scopes;
  const memoryReference = top.instructionPointerReference;
  await ask("threads");
  await ask("variables", { variablesReference: scopes[0].variablesReference });
  await ask("evaluate", { expression: "seed", frameId: top.id });
  await ask("completions", { text: "se", column: 3, frameId: top.id });
  await ask("readMemory", { memoryReference, count: 4 });
  await ask("disassemble", { memoryReference, instructionCount: 4 });
  await ask("exceptionInfo", { threadId });
  await ask("modules");
  await ask("loadedSources");
  await ask("source", { source, sourceReference: 0 });
  await ask("breakpointLocations", { source, line: Number(line) });
  await ask("dataBreakpointInfo", { name: "sum" });
  await ask("setDataBreakpoints", { breakpoints: [] });
  await ask("setInstructionBreakpoints", { breakpoints: [] });
  await ask("setExceptionBreakpoints", { filters: [] });
  await ask("setFunctionBreakpoints", { breakpoints: [{ name: "mix" }] });
  await ask("tracewell/frames", { start: 0, count: 5 });
  const { targets = [] } = await ask("gotoTargets", { source, line: Number(line) });
  await move("goto", { targetId: targets[0].id });
  await move("stepIn");
  await move("stepOut");
  await move("reverseContinue");
  await move("restart");
  await ask("pause", { threadId });
  await ask("cancel", { requestId: 1 });
  await ask("terminate");
}

main().catch((err) => {
  process.stderr.write(String(err && err.stack) + "\n");
  process.exit(1);
});
