// Makes dist/rawr.vsix; with `--binary FILE --target PLATFORM` one that has the binary inside, as dist/rawr-PLATFORM.vsix.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { binary, target } = parseArgs({
  options: { binary: { type: 'string' }, target: { type: 'string' } },
}).values;
if ((binary === undefined) !== (target === undefined)) throw new Error('--binary and --target go together');

execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
rmSync('server', { recursive: true, force: true });
if (binary !== undefined) {
  mkdirSync('server');
  const inside = path.join('server', 'rawr');
  copyFileSync(binary, inside);
  chmodSync(inside, 0o755);
}
const out = target === undefined ? 'dist/rawr.vsix' : `dist/rawr-${target}.vsix`;
const vsce = path.join('node_modules', '@vscode', 'vsce', 'vsce');
const platform = target === undefined ? [] : ['--target', target];
try {
  execFileSync(
    process.execPath,
    [
      vsce,
      'package',
      '--no-dependencies',
      '--allow-missing-repository',
      '--no-rewrite-relative-links',
      ...platform,
      '-o',
      out,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
} finally {
  rmSync('server', { recursive: true, force: true });
}
process.stdout.write(`${out}\n`);
