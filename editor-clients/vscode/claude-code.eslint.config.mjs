// The rules for the plugin for Claude Code, which has no packages of its own. Claude Code checks its types.
import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/.claude-plugin/types/'] },
  eslint.configs.recommended,
  tseslint.configs.strict,
  {
    rules: {
      'max-lines': ['error', 500],
      'no-console': 'error',
      'no-undef': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_$' }],
    },
  },
);
