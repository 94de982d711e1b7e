// The first steps with the package for a platform: a terminal, the demo, and the first configuration.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Lab, succeeds, until } from './lab';
import { withTheBinaryInside } from './places';
import { ASK } from './working';

/** A text in the picture of each step of the walkthrough. */
const PICTURES = {
  'Run an agent': 'Terminal',
  Watch: 'THREADS',
  Respond: 'Approve',
  Explain: 'Why there was no compaction',
  'Edit the prompts': 'handoff.md',
};

export function journeys(editor: string): void {
  let lab: Lab;
  before(async () => {
    lab = await withTheBinaryInside((file) =>
      Lab.open(editor, { machine: { 'rawr.server.path': '' }, package: file }),
    );
  });
  afterEach(async (context) => {
    await lab.witness(context);
  });
  after(() => lab.close());

  test('the walkthrough has pictures, and explaining nothing completes no step', async () => {
    const { page } = lab;
    // A narrow window shows no pictures.
    await page.setViewportSize({ width: 1680, height: 900 });
    await lab.command('Welcome: Open Walkthrough');
    await lab.choose('Get started with rawr');
    const step = (title: string) =>
      page.locator('.getting-started-step').filter({ has: page.getByText(title, { exact: true }) });
    for (const [title, text] of Object.entries(PICTURES)) {
      await step(title).click();
      // The frame is replaced when the step is drawn again.
      await until(`the picture of ${title}`, async () => {
        const picture = (await lab.frame('svg[viewBox="0 0 520 300"]')).locator('svg text', {
          hasText: text,
        });
        return succeeds(picture.first().waitFor({ timeout: 3_000 }));
      });
      await lab.shot(`walkthrough-${title.split(' ')[0] ?? ''}`);
    }
    await step('Explain').click();
    await step('Explain').getByRole('button', { name: 'Explain the Last Decision' }).click();
    await lab.hears('There is no thread here yet');
    assert.equal(await step('Explain').locator('.codicon.complete').filter({ visible: true }).count(), 0);
    await page
      .locator('.tab', { hasText: /Welcome|Walkthrough/ })
      .locator('.tab-actions .action-label')
      .click();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('a missing configuration is created and opened', async () => {
    await lab.command('Rawr: Open the Configuration…');
    await lab.answer('There is no configuration file yet.', 'Create');
    await lab.page.locator('.tab', { hasText: 'rawr.toml' }).waitFor();
    await lab.says(lab.page.locator('.view-lines'), 'rawr_auto_compaction');
    await lab.command('View: Close Editor');
  });

  test('Show Me runs the demo in this window, which then shows its own threads again', async () => {
    await lab.command('Rawr: Show Me');
    // Once the demo has ended, its thread does not run, and the bar has no figure.
    await lab.says(lab.bar, /rawr demo/);
    await lab.says(lab.page.locator('.pane-body'), 'The threads of the demo.');
    await lab.shot('show-me');
    await lab.hears('The demo is over.');
    // A thread that has ended is collapsed, once its end is reported.
    await lab.rows.and(lab.page.locator('[aria-expanded="false"]')).first().click();
    await lab.says(lab.rows, /\d → \d+ tokens/);
    await lab.page.locator('.terminal.xterm').first().waitFor();
    await lab.shot('show-me-over');
    await lab.answer('The demo is over.', 'Back to My Threads');
    await until('the own threads', async () => (await lab.rows.count()) === 0);
  });

  test('after the demo the window is the person’s again, without a click', async () => {
    await lab.command('Notifications: Clear All Notifications');
    await lab.command('Rawr: Show Me');
    await lab.says(lab.bar, /rawr demo/);
    await lab.hears('The demo is over.');
    lab.configure(ASK);
    lab.agent().prompt('write the parser');
    await lab.hears('parser: Waiting for your approval');
    await lab.says(lab.bar, /rawr 45% left · asap · 1 of 4/);
    await lab.answer('Waiting for your approval', 'Not now');
    await lab.command('Notifications: Clear All Notifications');
  });

  test('nothing is edited in the home of the demo', async () => {
    await lab.command('Rawr: Show Me');
    await lab.says(lab.bar, /rawr demo/);
    await lab.command('Rawr: Open the Agent’s Notes');
    await lab.hears('The files of the demo are removed when it is over.');
    await lab.command('Rawr: Open the Configuration…');
    await lab.page.locator('.tab', { hasText: 'rawr.toml' }).waitFor();
    await lab.says(lab.page.locator('.view-lines'), 'mode');
    await until('the own threads', async () => !/demo/.test(await lab.bar.innerText().catch(() => '')));
    await lab.command('View: Close Editor');
  });

  test('a terminal finds the binary of the package', async () => {
    const found = path.join(lab.folder, 'found');
    await lab.command('Terminal: Create New Terminal');
    await lab.page.locator('.terminal.xterm').last().waitFor();
    await until('rawr in a terminal', async () => {
      await lab.page.keyboard.type('rawr --version && touch found\n');
      await lab.page.waitForTimeout(2_000);
      return existsSync(found);
    });
    await lab.shot('terminal');
  });
}
