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

const { metafile } = await build({
  ...all,
  entryPoints: ['src/extension.ts'],
  metafile: true,
  outfile: 'dist/extension.js',
  external: ['vscode'],
  mainFields: ['module', 'main'],
  minify: true,
  charset: 'utf8',
  plugins: [noSemver],
});
writeFileSync('dist/extension.meta.json', JSON.stringify(metafile));

if (process.argv.includes('--tests')) {
  await build({
    ...all,
    entryPoints: { unit: 'test/unit/main.ts', editor: 'test/editor/main.ts' },
    outdir: 'dist/test',
    external: ['vscode', 'playwright-core'],
    sourcemap: 'inline',
  });
}
