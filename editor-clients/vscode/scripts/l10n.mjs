// Collects the texts of `l10n.t` into l10n/bundle.l10n.json, for translators. `--check` fails where that is stale, or where
// a translation has other keys or placeholders.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const problems = [];

function texts(file) {
  const found = [];
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022);
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText(source) === 'l10n.t') {
      const [text] = node.arguments;
      if (text && ts.isStringLiteralLike(text)) found.push(text.text);
      else problems.push(`${file}: a text for l10n.t must be written out`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The words of the protocol, which `src/protocol.ts` has from here. */
function labels() {
  const { definitions } = JSON.parse(readFileSync('../../protocol-schema/schema.json', 'utf8'));
  return Object.values(definitions).flatMap(({ oneOf }) => (oneOf ?? []).flatMap(({ title }) => title ?? []));
}

const files = readdirSync('src', { recursive: true }).filter((file) => file.endsWith('.ts'));
const all = [...new Set([...labels(), ...files.flatMap((file) => texts(path.join('src', file)))])].sort();
const bundle = `${JSON.stringify(Object.fromEntries(all.map((text) => [text, text])), null, 2)}\n`;
const target = 'l10n/bundle.l10n.json';

/** What a translation must contain like its original: places for values, and links. */
function fixedParts(text) {
  return (text.match(/\{\d+\}|\$\{\w+\}|\(command:[^)]*\)|`[^`]*`/g) ?? []).sort().join(' ');
}

function compare(folder, original, pattern) {
  const from = JSON.parse(readFileSync(original, 'utf8'));
  const translations = readdirSync(folder).filter((file) => pattern.test(file));
  for (const file of translations.map((name) => path.join(folder, name))) {
    const to = JSON.parse(readFileSync(file, 'utf8'));
    for (const key of Object.keys(to)) if (!(key in from)) problems.push(`${file}: unknown key “${key}”`);
    for (const [key, text] of Object.entries(from)) {
      if (!(key in to)) problems.push(`${file}: missing key “${key}”`);
      else if (fixedParts(to[key]) !== fixedParts(text))
        problems.push(`${file}: other placeholders, links or code than the original in “${key}”`);
    }
  }
}

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== bundle)
    problems.push(`${target} is not what the sources say: npm run l10n`);
  compare('l10n', target, /^bundle\.l10n\..+\.json$/);
  compare('.', 'package.nls.json', /^package\.nls\..+\.json$/);
} else {
  writeFileSync(target, bundle);
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
