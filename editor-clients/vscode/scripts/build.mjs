// Bundles the extension into dist/, minified; with `--tests` the tests as well, as they are.
import { build } from 'esbuild';
import { writeFileSync } from 'node:fs';

// The language client asks by it whether VS Code is new enough. `engines.vscode` has said so already.
const noSemver = {
  name: 'no-semver',
  setup(bundle) {
    bundle.onResolve({ filter: /^semver\/functions\// }, ({ path }) => ({ path, namespace: 'no-semver' }));
    bundle.onLoad({ filter: /./, namespace: 'no-semver' }, () => ({
      contents: 'module.exports = () => true;',
    }));
  },
};

const all = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  logLevel: 'warning',
  legalComments: 'eof',
};

// Loaded when they are needed, so that activation does not wait for them: what needs a sidecar, and most of the code, its client.
const CLIENT = 'vscode-languageclient/node';
const separate = (path, file) => ({
  name: `separate-${file}`,
  setup(bundle) {
    bundle.onResolve({ filter: new RegExp(`^${path}$`) }, () => ({ path: file, external: true }));
  },
});

const packaged = {
  ...all,
  outdir: 'dist',
  metafile: true,
  external: ['vscode'],
  mainFields: ['module', 'main'],
  minify: true,
  charset: 'utf8',
};

const bundles = await Promise.all([
  build({ ...packaged, entryPoints: ['src/extension.ts'], plugins: [separate('./window', './window.js')] }),
  build({ ...packaged, entryPoints: ['src/window.ts'], plugins: [separate(CLIENT, './client.js')] }),
  build({ ...packaged, entryPoints: { client: CLIENT }, plugins: [noSemver] }),
]);
const inputs = Object.assign({}, ...bundles.map(({ metafile }) => metafile.inputs));
writeFileSync('dist/extension.meta.json', JSON.stringify({ inputs }));

if (process.argv.includes('--tests')) {
  await build({
    ...all,
    entryPoints: { unit: 'test/unit/main.ts', editor: 'test/editor/main.ts' },
    outdir: 'dist/test',
    external: ['vscode', 'playwright-core'],
    sourcemap: 'inline',
  });
}
