// Commands beside the threads: the server, other folders, the CLI in a terminal, and debug information.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type Lab, until } from './lab';
import { AUTO, TAG, oneWindow } from './working';

export function journeys(editor: string): void {
  let lab: Lab;
  const work = oneWindow(editor, async (it) => {
    lab = it;
    await lab.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  });

  test('the server is stopped and started', async () => {
    await lab.command('Rawr Agents: Focus on Threads View');
    await until('a sidecar', () => lab.sidecar() !== undefined);
    await lab.command('Rawr: Stop Server');
    const view = lab.page.locator('.welcome-view-content');
    await lab.says(view, 'The rawr sidecar is stopped.');
    await until('the end of the sidecar', () => lab.sidecar() === undefined);
    await lab.says(lab.bar, 'rawr');
    await lab.page.locator('.welcome-view').getByRole('button', { name: 'Start Server' }).click();
    await until('another sidecar', () => lab.sidecar() !== undefined);
    await lab.says(view, 'No threads yet.');
  });

  test('debug information is copied', async () => {
    const secret = `ghs_${'8Kq2'.repeat(9)}`;
    lab.configure(`[rawr_auto_compaction]\nmode = "tag"\nauthorization = "${secret}"\n`);
    await lab.command('Rawr: Copy Debug Information');
    await lab.hears('Copied. Read it before you share it.');
    const copied = await lab.page.evaluate<string>('navigator.clipboard.readText()');
    for (const part of [
      '### Versions',
      '### rawr doctor',
      '### Appended',
      'extension: 0.',
      'sidecar: ',
      'Settings:',
      'Log:',
      'version',
    ])
      assert.ok(copied.includes(part), copied);
    assert.ok(!copied.includes(secret), copied);
    await lab.command('Notifications: Clear All Notifications');
  });

  test('threads of other folders are shown and hidden in the title of the view', async () => {
    const other = path.join(path.dirname(lab.folder), 'lexer');
    mkdirSync(other);
    await lab.command('Rawr Agents: Focus on Threads View');
    work(TAG, other);
    const button = (name: string) => lab.page.locator(`.actions-container a[aria-label^="${name}"]`).first();
    await button('Show All Threads').click();
    await lab.says(lab.rows, 'lexer · 45% left');
    await lab.shot('all-threads');
    await button('Show Only Threads of the Open Folders').click();
    await until('no row', async () => (await lab.rows.count()) === 0);
  });

  test('a thread that does not ask is snoozed from its menu', async () => {
    work(TAG);
    await lab.says(lab.bar, '45% left');
    await lab.openThreads();
    await lab.menu(lab.rows.filter({ hasText: '45% left · ready' }).first(), 'Snooze for One Turn');
    await lab.says(lab.rows, 'No compaction for 1 turn');
  });

  test('the state before a compaction is offered in a terminal, and restored by the person', async () => {
    work(AUTO);
    await lab.openThreads();
    const compaction = lab.rows.filter({ hasText: /5,620 → \d+ tokens/ }).first();
    await compaction.waitFor();
    await lab.menu(compaction, 'Restore the State Before a Compaction…');
    await lab.hears('Press Enter in the terminal');
    await lab.page.locator('.terminal.xterm').first().waitFor();
    await lab.shot('restore');
    await lab.command('Rawr: Check the Installation');
    await lab.says(lab.page.locator('.terminal-tabs-entry'), 'rawr doctor');
    await lab.shot('doctor');
  });
}
