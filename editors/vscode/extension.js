// The adapter is the program itself: tracewell dap, on its standard input and output.
const vscode = require("vscode");

function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("tracewell", {
      createDebugAdapterDescriptor() {
        const path = vscode.workspace.getConfiguration("tracewell").get("path");
        return new vscode.DebugAdapterExecutable(path, ["dap"]);
      },
    }),
  );
}

module.exports = { activate };
