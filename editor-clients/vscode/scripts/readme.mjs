// Writes the tables of settings and commands into README.md, from package.json. `--check` fails if they are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import prettier from 'prettier';

const TARGET = 'README.md';
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const texts = read('package.nls.json');
const { contributes } = read('package.json');

const plain = (text) => text.replace(/^%(.+)%$/, (_, key) => texts[key]).replaceAll('|', '\\|');

const SCOPES = { machine: 'machine', window: 'window', resource: 'folder' };

function settings() {
  const rows = Object.entries(contributes.configuration.properties).map(([key, setting]) => {
    const values = (setting.enum ?? []).map(
      (value, at) => `\`${value}\`: ${plain(setting.enumDescriptions[at])}`,
    );
    const meaning = [plain(setting.markdownDescription), ...values].join('<br>');
    return [
      `\`${key}\``,
      `\`${JSON.stringify(setting.default)}\``,
      SCOPES[setting.scope ?? 'window'],
      meaning,
    ];
  });
  return table(['Setting', 'Default', 'Scope', 'Meaning'], rows);
}

function commands() {
  const hidden = new Set(
    contributes.menus.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command),
  );
  const rows = contributes.commands
    .filter(({ command }) => !hidden.has(command))
    .map(({ command, title, category }) => [`${category}: ${plain(title)}`, `\`${command}\``]);
  return table(['Command', 'Identifier'], rows);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function replaced(readme, name, made) {
  const [begin, end] = [`<!-- generated: ${name} -->`, '<!-- end -->'];
  const from = readme.indexOf(begin);
  if (from < 0) throw new Error(`${TARGET} has no ${begin}`);
  return `${readme.slice(0, from)}${begin}\n\n${made}\n\n${readme.slice(readme.indexOf(end, from))}`;
}

const readme = readFileSync(TARGET, 'utf8');
const filled = replaced(replaced(readme, 'settings', settings()), 'commands', commands());
const config = await prettier.resolveConfig(TARGET);
const made = await prettier.format(filled, { ...config, parser: 'markdown' });
if (!process.argv.includes('--check')) writeFileSync(TARGET, made);
else if (made !== readme) {
  process.stderr.write(`${TARGET} is out of date: npm run readme\n`);
  process.exitCode = 1;
}
