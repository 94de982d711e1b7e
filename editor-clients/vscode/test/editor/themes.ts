// The themes of VS Code itself, by the file names of their definitions.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Lab, succeeds, until } from './lab';

/** A theme's id, which differs between editors. */
function themeId(editor: string, file: string): string {
  const manifest = path.join(editor, 'vscode', 'extensions', 'theme-defaults', 'package.json');
  const { contributes } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    contributes: { themes: { id: string; path: string }[] };
  };
  return contributes.themes.find((theme) => theme.path.endsWith(`/${file}.json`))?.id ?? '';
}

export function themeSettings(editor: string, file: string): Record<string, unknown> {
  return {
    'workbench.colorTheme': themeId(editor, file),
    'window.autoDetectColorScheme': false,
    'window.autoDetectHighContrast': false,
  };
}

/** Reloads the window with this theme; again if another is shown, as it may be on a busy machine. */
export async function useTheme(
  lab: Lab,
  editor: string,
  file: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const shown = lab.page.locator(`.monaco-workbench[class*="themes-${file}-json"]`);
  await until(`the theme ${file}`, async () => {
    await lab.changeUserSettings({ ...more, ...themeSettings(editor, file) });
    return succeeds(shown.waitFor({ timeout: 20_000 }));
  });
}
