// Threads of agents that the CLI runs in the same home: what a window shows, and the user's responses.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type Lab, rawr, succeeds, until } from './lab';
import { ASK, AUTO, TAG, oneWindow } from './working';

export function journeys(editor: string): void {
  let lab: Lab;
  const work = oneWindow(editor, (it) => {
    lab = it;
  });

  test('the status bar shows the percentage left, and nothing without a running thread', async () => {
    const agent = work(TAG);
    await lab.says(lab.bar, '45% left · ready');
    await lab.shot('status-bar');
    await agent.leave();
    await lab.bar.waitFor({ state: 'hidden' });
  });

  test('a click on Not now in the banner stops the sequence, and is recorded as an answer of this window', async () => {
    const release = lab.model.hold('packet_request');
    work(AUTO);
    await lab.hears(/rawr, .+: Compacting soon\. A phase ended here .*\(45% left, asap\)\./);
    const spoken = await lab.page.locator('[aria-label*="Compacting soon. A phase ended here"]').count();
    assert.ok(spoken > 0, 'the accessible name is the sentence');
    await lab.says(lab.bar, '2 of 4: Writing the packet');
    await lab.page.locator('.activitybar .badge-content', { hasText: '1' }).first().waitFor();
    await lab.openThreads();
    await lab.shot('banner');
    await lab.answer('Compacting soon', 'Not now');
    await until('the answer', () => lab.recorded('responded').length > 0);
    const [answer] = lab.recorded('responded');
    assert.equal(answer?.['choice'], 'snooze');
    assert.match(String(answer['by']), /code/i);
    await lab.hears('Snoozed: no compaction for 1 turn, except in an emergency.');
    release();
    await lab.bannerGoes('Compacting soon');
    await lab.openThreads();
    await lab.says(lab.rows, 'No compaction for 1 turn');
    assert.equal(lab.recorded('compaction_reported').length, 0);
  });

  test('an answer after the one of another client has a friendly sentence', async () => {
    work(ASK);
    await lab.hears('Waiting for your approval');
    await lab.says(lab.bar, '1 of 4');
    execFileSync(rawr(), ['compact', 'last', '--cancel'], {
      env: { ...process.env, RAWR_HOME: lab.home },
      stdio: 'pipe',
    });
    await until('the end of the sequence', async () => !/1 of 4/.test(await lab.bar.innerText()));
    await lab.answer('Waiting for your approval', 'Approve');
    await lab.hears('This answer came too late');
    await lab.shot('too-late');
    await lab.command('Notifications: Clear All Notifications');
  });

  test('closing the banner answers nothing, and the status bar has the choices', async () => {
    const before = lab.recorded('responded').length;
    work(ASK);
    await lab.hears('Waiting for your approval');
    await lab.dismiss('Waiting for your approval');
    await lab.bannerGoes('Waiting for your approval');
    await lab.says(lab.bar, '1 of 4');
    assert.equal(lab.recorded('responded').length, before);
    await lab.page.keyboard.press('Control+Alt+r');
    await lab.page.keyboard.press('a');
    await lab.choose('Approve');
    await until('the compaction', () => lab.model.seen.includes('summary'));
  });

  test('accepting the primary action of the banner does not stop the compaction', async () => {
    const before = lab.recorded('responded').length;
    const release = lab.model.hold('packet_request');
    work(AUTO);
    await lab.hears('Compacting soon');
    await lab.command('Notifications: Accept Notification Primary Action');
    await lab.says(lab.page.locator('.codelens-decoration'), 'Hand over');
    await lab.bannerGoes('Compacting soon');
    assert.equal(lab.recorded('responded').length, before);
    // The status bar still has the choices.
    await lab.bar.click();
    await lab.says(lab.page.locator('.quick-input-list .monaco-list-row'), 'Skip this one');
    await lab.shot('choices');
    await lab.page.keyboard.press('Escape');
    await lab.command('View: Close Editor');
    release();
    await until('the compaction', () => lab.model.seen.includes('summary'));
  });

  test('a packet that came too late can be discarded, and the end is told', async () => {
    const release = lab.model.hold('packet_request');
    work(`${ASK}[rawr_auto_compaction.deadlines]\napproval_seconds = 12\n`);
    await lab.answer('Waiting for your approval', 'Edit the packet');
    const lens = lab.page.locator('.codelens-decoration');
    await lab.says(lens, /Canceled without an answer in \d+:\d\d/);
    await lab.page.keyboard.press('Control+A');
    await lab.page.keyboard.type('State: working\nGoal: write the parser\nNext: ask the wren');
    await lab.hears('no answer came in time');
    await lab.says(lens, 'Too late');
    await lab.page.keyboard.type(' again');
    await lab.command('File: Save All Files');
    await lab.page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
    await lab.shot('late-packet');
    assert.equal(await lab.toast.filter({ hasText: /unable|failed/i }).count(), 0);
    await lens.getByText('Discard').click();
    await lab.page.locator('.tab', { hasText: 'packet.md' }).waitFor({ state: 'detached' });
    assert.equal(lab.model.handoff.includes('ask the wren'), false);
    release();
    await lab.command('Notifications: Clear All Notifications');
  });

  test('the tree shows a compaction with its token counts, and the gates with their evidence', async () => {
    work(AUTO);
    await lab.openThreads();
    await lab.says(lab.rows, /5,620 → \d+ tokens/);
    await lab.says(lab.rows, 'completed');
    await lab.rows.filter({ hasText: 'Decisions' }).first().click();
    const decision = lab.rows.filter({ hasText: 'compaction decided' }).first();
    await lab.says(decision, '45% left');
    await decision.locator('.monaco-tl-twistie').click();
    await lab.rows.filter({ hasText: 'Passed gates' }).first().locator('.monaco-tl-twistie').click();
    await lab.says(lab.rows, 'passed: 45% left is below 65% (asap)');
    await lab.shot('tree');
  });

  const AUTO_SAVE = {
    off: 'off',
    afterDelay: 'afterDelay',
    onFocusChange: 'onFocusChange',
    'not set': undefined,
  };
  for (const [named, autoSave] of Object.entries(AUTO_SAVE)) {
    test(`a packet is handed over by the person alone, with files.autoSave ${named}`, async () => {
      const user = autoSave === undefined ? {} : { 'files.autoSave': autoSave, 'files.autoSaveDelay': 100 };
      await lab.changeUserSettings(user);
      const before = lab.recorded('responded').length;
      // Delayed, as with a real agent.
      const release = lab.model.hold('packet_request');
      work(ASK);
      await lab.hears('Waiting for your approval');
      await lab.answer('Waiting for your approval', 'Edit the packet');
      const lens = lab.page.locator('.codelens-decoration');
      await lab.says(lens, 'Hand over and continue the compaction with this packet');
      await lab.says(lens, /Canceled without an answer in \d+:\d\d/);
      await lab.page.keyboard.press('Control+A');
      await lab.page.keyboard.type('State: working\nGoal: write the parser\nNext: ask the owl');
      await lab.shot('packet');
      // Whether auto-save or the user saves it.
      await lab.page.keyboard.press('Control+Shift+E');
      await lab.command('File: Save All Files');
      await lab.page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
      assert.equal(lab.recorded('responded').length, before);
      await lab.page.locator('.editor-actions a[aria-label^="Close Without Handing Over"]').first().waitFor();
      await lab.page.locator('.editor-actions a[aria-label^="Hand Over to the Agent"]').first().click();
      await until('the packet', () => lab.recorded('responded').length > before);
      release();
      await until('the handoff', () => lab.model.handoff.includes('ask the owl'));
      await lab.says(lens, /handed over|past/);
      await lab.command('View: Close Editor');
    });
  }

  test('a draft of a packet survives a reload of the window, and can then be delivered', async () => {
    // With auto save, a tab does not show whether it is saved.
    await lab.changeUserSettings({ 'files.autoSave': 'off' });
    const release = lab.model.hold('packet_request');
    work(ASK);
    await lab.hears('Waiting for your approval');
    const before = lab.recorded('responded').length;
    await lab.answer('Waiting for your approval', 'Edit the packet');
    const lens = lab.page.locator('.codelens-decoration');
    await lab.says(lens, 'Hand over and continue the compaction with this packet');
    await lab.page.keyboard.press('Control+A');
    await lab.page.keyboard.type('State: working\nGoal: write the parser\nNext: ask the heron');
    await lab.says(lab.page.locator('.view-lines'), 'ask the heron');
    await lab.command('File: Save All Files');
    await lab.page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
    await lab.reload();
    // A window may be reloaded before it has stored its open tabs.
    await lab.answer('Waiting for your approval', 'Edit the packet');
    await lab.says(lab.page.locator('.view-lines'), 'ask the heron');
    // Lenses are redrawn after the reload, and a removed lens ignores a click.
    await until('the packet', async () => {
      await succeeds(lens.getByText('Hand Over to the Agent').click({ timeout: 3_000 }));
      await lab.page.waitForTimeout(1_000);
      return lab.recorded('responded').length > before;
    });
    release();
    await until('the handoff', () => lab.model.handoff.includes('ask the heron'));
    await lab.command('View: Close Editor');
  });

  test('an open packet shows the packet that another client delivers, which approves', async () => {
    const agent = work(ASK);
    await lab.hears('Waiting for your approval');
    await lab.answer('Waiting for your approval', 'Edit the packet');
    const text = lab.page.locator('.view-lines');
    await lab.says(text, 'Built by rawr');
    const threadId = await agent.told('threadId');
    const packet = 'State: working\nGoal: write the parser\nNext: ask the magpie';
    await lab.answersElsewhere({ threadId, choice: 'edit_packet', packet });
    await lab.says(text, 'ask the magpie');
    const choices = lab.recorded('responded').map(({ choice }) => choice);
    assert.deepEqual(choices.slice(-2), ['edit_packet', 'approve']);
    await lab.command('View: Close Editor');
  });

  test('an agent whose host keeps no transcript is said to have none', async () => {
    work(TAG);
    await lab.says(lab.bar, '45% left');
    await lab.command('Rawr: Open the Host’s Transcript');
    await lab.hears('keeps no transcript');
  });

  test('the notes of an agent are opened and updated', async () => {
    const agent = work(TAG);
    await lab.says(lab.bar, '45% left');
    const file = path.join(lab.folder, await agent.told('scratchFile'));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'The parser is written.\n');
    await lab.command('Rawr: Open the Agent’s Notes');
    const text = lab.page.locator('.view-lines');
    await lab.says(text, 'The parser is written.');
    appendFileSync(file, 'The docs are next.\n');
    await lab.says(text, 'The docs are next.');
    await lab.command('View: Close Editor');
  });

  test('the decision view explains a decision, with a plot and without scripts', async () => {
    const agent = work(TAG);
    await lab.says(lab.bar, '45% left');
    agent.prompt('and now more of the parser');
    await lab.command('Rawr: Explain the Last Decision');
    const page = await lab.frame('main h1');
    await page.locator('h1', { hasText: 'Why' }).first().waitFor();
    await page.locator('summary', { hasText: 'Passed gates' }).click();
    await page.getByText('45% left is below 50% (ready)').first().waitFor();
    assert.equal(await page.locator('main script').count(), 0);
    await lab.shot('decision');
    const decisions = await page.locator('ol li').count();
    agent.prompt('and the rest of the parser');
    // The frame is replaced when the page is drawn again.
    await until('the next decision', async () => {
      const next = (await lab.frame('main h1')).locator('ol li').nth(decisions);
      return succeeds(next.waitFor({ timeout: 3_000 }));
    });
    // In order, so that the window stores its open tabs.
    await Promise.all([lab.page.waitForEvent('domcontentloaded'), lab.command('Developer: Reload Window')]);
    await until('the page after the reload', async () => {
      const restored = (await lab.frame('main h1')).locator('h1', { hasText: 'Why' });
      return succeeds(restored.waitFor({ timeout: 3_000 }));
    });
    await lab.command('View: Close Editor');
  });

  test('a guard, an instruction and the end of a phase are set from the menu of a thread', async () => {
    work(TAG);
    await lab.says(lab.bar, '45% left');
    await lab.openThreads();
    // Threads that have ended show when.
    const thread = lab.rows.filter({ hasText: /45% left · ready · (?!.*(ago|just now))/ }).first();
    await lab.menu(thread, 'Do Not Compact Until…');
    await lab.choose('until the next commit');
    await lab.says(lab.page.locator('.quick-input-widget'), 'The note is shown with the guard');
    await lab.page.locator('.quick-input-widget input').fill('ask the owl');
    await lab.page.keyboard.press('Enter');
    const guard = lab.rows.filter({ hasText: 'No compaction until the next commit' });
    await lab.says(guard, 'ask the owl');
    await lab.menu(thread, 'Pin an Instruction…');
    await lab.page.locator('.quick-input-widget input').fill('Ask the owl first');
    await lab.page.keyboard.press('Enter');
    await lab.says(lab.rows, 'Kept instructions');
    assert.match(JSON.stringify(lab.recorded('directive_given')), /Ask the owl first/);
    await lab.menu(thread, 'Mark the End of a Phase…');
    await lab.page.locator('.quick-input-widget input').fill('The parser');
    await lab.page.keyboard.press('Enter');
    await until('the mark', () => lab.recorded('phase_ended').length > 0);
    assert.deepEqual(
      lab.recorded('phase_ended').map(({ label }) => label),
      ['The parser'],
    );
    await lab.menu(guard, 'Remove');
    await until('the end of the guard', async () => (await guard.count()) === 0);
  });

  test('a killed sidecar is restarted, and the banner is shown again', async () => {
    work(ASK);
    await lab.hears('Waiting for your approval');
    const killed = lab.sidecar();
    assert.ok(killed !== undefined);
    process.kill(killed, 'SIGKILL');
    await until('another sidecar', () => ![undefined, killed].includes(lab.sidecar()));
    await lab.says(lab.bar, 'Waiting for your approval');
    await lab.answer('Waiting for your approval', 'Approve');
    await until('the compaction', () => lab.model.seen.includes('summary'));
  });
}
