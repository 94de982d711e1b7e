// A prompt in the editor: diagnostics while typing, and its preview.
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Lab, succeeds, until } from './lab';

export function journeys(editor: string): void {
  let lab: Lab;
  before(async () => {
    lab = await Lab.open(editor);
  });
  afterEach(async (context) => {
    await lab.witness(context);
  });
  after(() => lab.close());

  test('typing in a prompt updates its preview at once, and a mistake is marked', async () => {
    await lab.command('Rawr: Open a Prompt…');
    const { page } = lab;
    await lab.choose('heads-up');
    await page.locator('.tab', { hasText: 'heads-up.md' }).waitFor();
    await lab.says(page.locator('.codelens-decoration'), 'renders to');
    await page.locator('.editor-actions a[aria-label^="Preview the Prompt"]').click();
    const preview = page.locator('.editor-group-container').nth(1);
    await preview.locator('.view-lines').filter({ hasText: 'compacted' }).waitFor();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('Mind the owl, {unknown}. ');
    await preview
      .locator('.view-lines')
      .filter({ hasText: /Mind\sthe\sowl/ })
      .waitFor();
    await page.locator('.squiggly-warning, .squiggly-error').first().waitFor();
    await lab.shot('preview');
  });

  test('placeholders and rawr.toml have colors, and rawr.toml has comments and problems', async () => {
    const { page } = lab;
    lab.configure('[rawr_auto_compaction]\nmode = "no"\n');
    const colorOf = (text: string): Promise<string | null> =>
      page
        .locator('.editor-group-container')
        .first()
        .locator('.view-line span span', { hasText: text })
        .first()
        .getAttribute('class');
    await lab.command('Rawr: Open a Prompt…');
    await lab.choose('handoff');
    await page.locator('.tab', { hasText: 'handoff.md' }).waitFor();
    await until('a color of placeholders', async () => {
      const [placeholder, text] = [await colorOf('{packet}'), await colorOf('What')];
      return placeholder !== text;
    });
    await lab.shot('placeholders');
    const tab = page.locator('.tab', { hasText: 'rawr.toml' });
    // The sidecar notices the new file a moment later.
    await until('rawr.toml', async () => {
      await lab.command('Rawr: Open the Configuration…');
      return succeeds(tab.waitFor({ timeout: 3_000 }));
    });
    await lab.says(page.locator('.statusbar-item'), 'TOML (rawr)');
    await page.locator('.squiggly-warning, .squiggly-error').first().waitFor();
    // VS Code loads the comment characters of a language a moment after it is set.
    const comment = page.locator('.view-line').filter({ hasText: /#\s\[rawr_auto/ });
    await until('a comment', async () => {
      await page.keyboard.press('Control+/');
      return succeeds(comment.waitFor({ timeout: 3_000 }));
    });
    await lab.shot('toml');
    await page.keyboard.press('Control+Z');
  });

  test('the config.toml of Codex is checked, and that of another program is not', async () => {
    const { page } = lab;
    const mistake = '[rawr_auto_compaction]\nmode = "no"\n';
    for (const folder of [lab.home, lab.folder]) writeFileSync(path.join(folder, 'config.toml'), mistake);
    await lab.command('View: Close All Editors');
    const picks = page.locator('.quick-input-list .monaco-list-row');
    await lab.openFile('config.toml');
    await lab.command('View: Split Editor Right');
    await until('the file of Codex', async () => {
      await lab.command('Rawr: Open the Configuration…');
      const file = picks.filter({ hasText: path.join(lab.home, 'config.toml') });
      if (await succeeds(file.click({ timeout: 3_000 }))) return true;
      await page.keyboard.press('Escape');
      return false;
    });
    const [others, codex] = [0, 1].map((at) => page.locator('.editor-group-container').nth(at));
    await codex?.locator('.squiggly-warning, .squiggly-error').first().waitFor();
    assert.equal(await others?.locator('.squiggly-warning, .squiggly-error').count(), 0);
    await lab.command('View: Close All Editors');
  });

  test('a prompt that another program saves is used without a message', async () => {
    appendFileSync(path.join(lab.home, 'auto-compact', 'handoff.md'), '\nMind the owl.\n');
    await lab.command('Rawr: Open a Prompt…');
    await lab.says(
      lab.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'handoff' }),
      'edited',
    );
    await lab.page.keyboard.press('Escape');
  });

  test('a prompt is compared with the shipped text', async () => {
    const { page } = lab;
    await lab.command('Rawr: Open a Prompt…');
    await lab.choose('handoff');
    await page.locator('.tab', { hasText: 'handoff.md' }).waitFor();
    await lab.says(page.locator('.codelens-decoration'), 'renders to');
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('Mind the owl. ');
    const lens = page
      .locator('.codelens-decoration a')
      .filter({ hasText: 'differs from the shipped' })
      .first();
    const comparison = page.locator('.monaco-diff-editor').first();
    // Lenses are redrawn after each change.
    const compare = async (): Promise<void> => {
      if (!(await comparison.isVisible())) await lens.click({ timeout: 3_000 });
      await comparison.waitFor({ timeout: 3_000 });
    };
    await until('the comparison', () => succeeds(compare()));
    await page
      .locator('.monaco-diff-editor .char-insert, .monaco-diff-editor .line-insert')
      .first()
      .waitFor();
    await lab.shot('compare');
  });
}
