// Reports the activation times that the editor measures, without an assertion: they depend on the machine.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Lab, succeeds, until } from './lab';

/** How long the editor takes to load its own extensions: most of it is the loading itself. */
async function others(lab: Lab): Promise<number[]> {
  const rows = await lab.page
    .locator('.view-line')
    .filter({ hasText: /vscode\.[\w-]+\s+\|/ })
    .allInnerTexts();
  return rows
    .map((row) => Number(row.split('|')[3]))
    .filter((ms) => ms > 0)
    .sort((a, b) => a - b);
}

/** The columns of the editor's table, in milliseconds. */
async function times(lab: Lab): Promise<string> {
  const { page } = lab;
  // Lines outside of the viewport are not in the page.
  await page.setViewportSize({ width: 1680, height: 6000 });
  const row = page
    .locator('.view-line')
    .filter({ hasText: /rawr\.rawr\s+\|/ })
    .last();
  await until('the activation times', async () => {
    await lab.command('Developer: Startup Performance');
    if (await succeeds(row.waitFor({ timeout: 20_000 }))) return true;
    await lab.command('View: Close Editor');
    return false;
  });
  const [, , , load = '', call = '', finish = '', event = ''] = (await row.innerText()).split('|');
  const [loaded, called, finished] = [load, call, finish].map((column) => column.trim());
  const own = `load code ${loaded} ms, call activate ${called} ms, finish ${finished} ms, ${event.trim()}`;
  return `${own}; load code of the editor's own: ${(await others(lab)).join(', ')} ms`;
}

export function journeys(editor: string): void {
  for (const [what, has] of Object.entries({ 'an empty home': false, 'a prompt folder': true })) {
    test(`the editor reports the activation times with ${what}`, async (context) => {
      // A binary that is named is one that is used.
      const lab = await Lab.open(editor, has ? {} : { machine: { 'rawr.server.path': '' } });
      try {
        const prompts = path.join(lab.home, 'auto-compact');
        if (has && !existsSync(prompts)) mkdirSync(prompts);
        context.diagnostic(await times(lab));
      } finally {
        await lab.close();
      }
    });
  }
}
