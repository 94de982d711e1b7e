// Makes dist/rawr.vsix; with `--binary FILE --target PLATFORM` one that has the binary inside, as dist/rawr-PLATFORM.vsix.
// `--notices FILE` has the licenses of what the binary includes. `--out FILE` puts the package elsewhere.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { notices } from './notices.mjs';

const STAGE = path.join('dist', 'package');
const COPIED = ['package.json', 'package.nls.json', 'package.nls.de.json', 'l10n', 'language', 'media'];
const BUNDLES = ['extension.js', 'window.js', 'client.js'];
/** Without the binary. */
const MOST_BYTES = 220_000;
const USAGE = 'npm run package [-- [--binary FILE --target PLATFORM [--notices FILE]] [--out FILE]]';

/** An error whose message is enough, without a stack trace. */
class PackageError extends Error {}
class UsageError extends PackageError {}

function options() {
  try {
    const names = ['binary', 'target', 'notices', 'out'];
    return parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function checked({ binary, target, notices, out }) {
  if ((binary === undefined) !== (target === undefined))
    throw new UsageError('--binary and --target are used together');
  if (binary !== undefined && !statSync(binary, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`--binary: ${binary} is not a file`);
  const name = target === undefined ? 'rawr.vsix' : `rawr-${target}.vsix`;
  return { binary, target, ofBinary: notices, out: path.resolve(out ?? path.join('dist', name)) };
}

/** The page of the extension shows no files beside it, so its pictures are part of its text. */
function page() {
  const inside = (_, label, file) =>
    `![${label}](data:image/png;base64,${readFileSync(file).toString('base64')})`;
  return readFileSync('README.md', 'utf8').replace(/!\[([^\]]*)\]\((media\/[^)]+\.png)\)/g, inside);
}

function license() {
  const [mit, apache] = ['MIT', 'APACHE'].map((name) => readFileSync(`LICENSE-${name}`, 'utf8'));
  return `rawr is licensed under the MIT License or the Apache License 2.0, at your option.\n\n${mit}\n\n${apache}`;
}

function stage(binary, ofBinary) {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(path.join(STAGE, 'dist'), { recursive: true });
  for (const name of COPIED) cpSync(name, path.join(STAGE, name), { recursive: true });
  for (const file of BUNDLES) copyFileSync(path.join('dist', file), path.join(STAGE, 'dist', file));
  copyFileSync('../../CHANGELOG.md', path.join(STAGE, 'CHANGELOG.md'));
  // The banner is part of the page.
  rmSync(path.join(STAGE, 'media', 'banner.png'));
  const texts = { 'README.md': page(), 'LICENSE.txt': license(), 'NOTICES.txt': notices(ofBinary) };
  for (const [name, text] of Object.entries(texts)) writeFileSync(path.join(STAGE, name), text);
  // Everything here belongs to the package.
  writeFileSync(path.join(STAGE, '.vscodeignore'), '');
  if (binary === undefined) return;
  const inside = path.join(STAGE, 'server', 'rawr');
  mkdirSync(path.dirname(inside));
  copyFileSync(binary, inside);
  chmodSync(inside, 0o755);
}

function pack(target, out) {
  const vsce = path.resolve('node_modules', '@vscode', 'vsce', 'vsce');
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'];
  const platform = target === undefined ? [] : ['--target', target];
  execFileSync(process.execPath, [vsce, ...args, ...platform, '-o', out], {
    cwd: STAGE,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { size } = statSync(out);
  if (target === undefined && size > MOST_BYTES)
    throw new PackageError(`${out} has ${size} bytes; at most ${MOST_BYTES} are allowed`);
  return path.relative('.', out);
}

try {
  const { binary, target, ofBinary, out } = checked(options());
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  stage(binary, ofBinary);
  process.stdout.write(`${pack(target, out)}\n`);
} catch (error) {
  // A program that failed has printed why.
  const isKnown = error instanceof PackageError || error.status !== undefined;
  process.stderr.write(`${isKnown ? error.message : error.stack}\n`);
  if (error instanceof UsageError) process.stderr.write(`usage: ${USAGE}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
} finally {
  rmSync(STAGE, { recursive: true, force: true });
}
