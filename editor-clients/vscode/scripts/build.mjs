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

// Most of the code. The extension loads it with the first sidecar, so that activation does not wait for it.
const CLIENT = 'vscode-languageclient/node';
const separateClient = {
  name: 'separate-client',
  setup(bundle) {
    bundle.onResolve({ filter: new RegExp(`^${CLIENT}$`) }, () => ({ path: './client.js', external: true }));
  },
};

const packaged = {
  ...all,
  outdir: 'dist',
  metafile: true,
  external: ['vscode'],
  mainFields: ['module', 'main'],
  minify: true,
  charset: 'utf8',
};

const { metafile } = await build({
  ...packaged,
  entryPoints: ['src/extension.ts'],
  plugins: [separateClient],
});
const client = await build({ ...packaged, entryPoints: { client: CLIENT }, plugins: [noSemver] });
const inputs = { ...metafile.inputs, ...client.metafile.inputs };
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
