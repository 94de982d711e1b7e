// Echo server on vscode-jsonrpc, a yardstick of the bench: answers `initialize`, then returns the params of any request.
// It must not do more than that: whatever it does more is charged to the library.
"use strict";
const rpc = require("vscode-jsonrpc/node");

const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(process.stdin),
  new rpc.StreamMessageWriter(process.stdout),
);
connection.onRequest("initialize", () => ({ capabilities: {} }));
connection.onRequest((_method, params) => params);
connection.onClose(() => process.exit(0));
connection.listen();
