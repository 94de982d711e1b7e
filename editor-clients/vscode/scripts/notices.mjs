// The licenses of the packages inside the bundle, from the list of its files that scripts/build.mjs writes.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

function packages() {
  const { inputs } = JSON.parse(readFileSync('dist/extension.meta.json', 'utf8'));
  const folders = Object.keys(inputs).flatMap(
    (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
  );
  return [...new Set(folders)].sort();
}

function notice(folder) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const by = author?.name ?? author ?? 'its authors';
  const text = file ? readFileSync(path.join(folder, file), 'utf8') : `Licensed by ${by} as ${license}.`;
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

/** With those of the binary inside, from this file. */
export function notices(ofBinary) {
  const line = `\n${'-'.repeat(72)}\n\n`;
  const binary = ofBinary === undefined ? [] : [readFileSync(ofBinary, 'utf8')];
  return ['This extension includes these packages.\n', ...packages().map(notice), ...binary].join(line);
}
