// A session of Claude Code as apps run it, with the client that they use. Each line of standard input is a message, or Ctrl-C,
// which interrupts the turn, or a tab and the name of the model to go on with; the end of the input ends the session. Arguments:
// Claude Code's program, the plugin's folder, and more options of the client as JSON.
import { createInterface } from 'node:readline';

import { query } from '@anthropic-ai/claude-agent-sdk';

const [program, plugin, options] = process.argv.slice(2);
const CTRL_C = '\x03';
const MODEL = '\t';

async function* messages() {
  for await (const text of createInterface({ input: process.stdin })) {
    if (text === CTRL_C) {
      await session.interrupt();
    } else if (text.startsWith(MODEL)) {
      await session.setModel(text.slice(MODEL.length));
    } else {
      yield { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null };
    }
  }
}

const session = query({
  prompt: messages(),
  options: {
    pathToClaudeCodeExecutable: program,
    plugins: [{ type: 'local', path: plugin }],
    permissionMode: 'acceptEdits',
    allowedTools: ['Bash'],
    // As the extension for VS Code does.
    settingSources: ['user', 'project', 'local'],
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    ...JSON.parse(options),
  },
});
for await (const message of session) {
  console.log(JSON.stringify(message));
}
