import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const MODELS = [
  'src/model/**',
  'src/watch.ts',
  'src/sidecar.ts',
  'src/server/binary.ts',
  'src/server/compatibility.ts',
  'src/server/restarts.ts',
  'src/server/run.ts',
  'src/server/supervisor.ts',
];

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', '.editors/', 'src/protocol.ts'] },
  eslint.configs.recommended,
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', 500],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true }],
      'no-console': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
    },
  },
  {
    files: MODELS,
    rules: {
      'no-restricted-imports': ['error', { paths: ['vscode'], patterns: ['vscode-languageclient*'] }],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off', 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { Buffer: 'readonly', process: 'readonly', URL: 'readonly' } },
  },
);
