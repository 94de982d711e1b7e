#!/usr/bin/env node
// make.mjs OUT PLATFORM=BINARY...: packs the package `rawr-sidecar` and one with the binary for each of these platforms, which are linux-x64,
// linux-arm64, darwin-x64 and darwin-arm64. `--repository URL` names the repository, `--notices FILE` has the licenses of what the binaries
// include. Prints the paths of the archives.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');

function usage(problem) {
  process.stderr.write(
    `${problem}\nusage: packaging/npm/make.mjs [--repository URL] [--notices FILE] OUT PLATFORM=BINARY...\n`,
  );
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      options: { repository: { type: 'string' }, notices: { type: 'string' } },
      allowPositionals: true,
    });
  } catch (error) {
    return usage(error.message);
  }
}

const { values, positionals } = options();
const [out, ...pairs] = positionals;
if (out === undefined || pairs.length === 0) usage('a folder and a binary are needed');
const binaries = pairs.map((pair) => pair.split('='));
for (const [platform, file] of binaries) {
  if (!PLATFORMS.includes(platform) || !file) usage(`${platform} is none of ${PLATFORMS.join(', ')}`);
}

const version = execFileSync(path.join(ROOT, 'packaging', 'version'), { encoding: 'utf8' }).trim();
const template = JSON.parse(readFileSync(path.join(HERE, 'package.json'), 'utf8'));
if (values.repository !== undefined)
  template.repository = { type: 'git', url: `git+${values.repository}.git` };

mkdirSync(out, { recursive: true });
const stage = mkdtempSync(path.join(tmpdir(), 'rawr-npm-'));
try {
  pack(
    {
      ...template,
      version,
      optionalDependencies: Object.fromEntries(
        PLATFORMS.map((name) => [`${template.name}-${name}`, version]),
      ),
    },
    (folder) => cpSync(path.join(HERE, 'bin'), path.join(folder, 'bin'), { recursive: true }),
  );
  for (const [platform, file] of binaries) {
    const [os, cpu] = platform.split('-');
    const { bin, ...shared } = template;
    const description = `The program of ${template.name} for ${platform}.`;
    pack(
      { ...shared, name: `${template.name}-${platform}`, version, description, os: [os], cpu: [cpu] },
      (folder) => {
        mkdirSync(path.join(folder, 'bin'));
        copyFileSync(file, path.join(folder, 'bin', 'rawr'));
        chmodSync(path.join(folder, 'bin', 'rawr'), 0o755);
        if (values.notices !== undefined) copyFileSync(values.notices, path.join(folder, 'NOTICES.txt'));
      },
    );
  }
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function pack(manifest, fill) {
  const folder = path.join(stage, manifest.name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  for (const name of ['LICENSE-MIT', 'LICENSE-APACHE'])
    copyFileSync(path.join(ROOT, name), path.join(folder, name));
  copyFileSync(path.join(ROOT, 'packaging', 'page.md'), path.join(folder, 'README.md'));
  fill(folder);
  const name = execFileSync(
    'npm',
    ['pack', '--silent', '--offline', '--pack-destination', path.resolve(out), folder],
    { encoding: 'utf8' },
  );
  process.stdout.write(`${path.join(out, name.trim())}\n`);
}
