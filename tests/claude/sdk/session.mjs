// A session of Claude Code as apps run it, with the client that they use. Each line of standard input is a message; the end
// of the input ends the session. Arguments: Claude Code's program, the plugin's folder.
import { createInterface } from 'node:readline';

import { query } from '@anthropic-ai/claude-agent-sdk';

const [program, plugin] = process.argv.slice(2);

async function* messages() {
  for await (const text of createInterface({ input: process.stdin })) {
    yield { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null };
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
  },
});
for await (const message of session) {
  console.log(JSON.stringify(message));
}
