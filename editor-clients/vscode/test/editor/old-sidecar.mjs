// A sidecar of an older release: it answers every request, and tells no protocol version.
let buffer = '';
process.stdin.on('data', (piece) => {
  buffer += piece;
  for (;;) {
    const [head, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(buffer) ?? [];
    if (head === undefined || buffer.length < head.length + Number(length)) return;
    answer(JSON.parse(buffer.slice(head.length, head.length + Number(length))));
    buffer = buffer.slice(head.length + Number(length));
  }
});

function answer({ id, method }) {
  if (method === 'exit') process.exit(0);
  if (id === undefined) return;
  const result = method === 'initialize' ? { capabilities: {}, serverInfo: { name: 'rawr' } } : null;
  const body = JSON.stringify({ jsonrpc: '2.0', id, result });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
