// A week in fast motion: threads come and end, several ask at once, homes move, sidecars hang and die.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { ASAP, EMERGENCY, type Host } from './host';
import { Lab, ROOT, succeeds, until } from './lab';
import { ASK, TAG } from './working';

const HUNG = path.join(ROOT, 'test', 'editor', 'hung-sidecar.sh');

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

export function journeys(editor: string): void {
  let lab: Lab;
  let host: Host;
  before(async () => {
    lab = await Lab.open(editor);
    lab.configure(TAG);
    host = await lab.host();
    await lab.command('Rawr Agents: Focus on Threads View');
  });
  afterEach(async (context) => {
    await lab.witness(context);
  });
  after(async () => {
    await host.kill();
    await lab.close();
  });

  /** Starts a thread that asks, and waits for its message. */
  const asks = async (threadId: string): Promise<void> => {
    await host.open(threadId);
    await host.endsAPhase(threadId, `Task ${threadId}`, ASAP);
    await lab.hears(`Task ${threadId}: Waiting for your approval`);
  };
  const answers = (threadId: string): unknown[] =>
    lab.recordedIn(threadId, 'responded').map(({ choice }) => choice);
  const nothingRuns = async (): Promise<void> => {
    await lab.bar.waitFor({ state: 'hidden' });
    const running = lab.rows.locator('.codicon-pulse, .codicon-warning');
    await until('no row that runs', async () => (await running.count()) === 0);
  };

  test('of a hundred threads that came and ended, none is shown as running, also after a reload', async () => {
    for (let batch = 0; batch < 10; batch++) {
      const ids = Array.from({ length: 10 }, (_, at) => `ended-${batch * 10 + at}`);
      await Promise.all(ids.map((id) => host.open(id)));
      await Promise.all(ids.map((id) => host.endsAPhase(id, `Task ${id}`, EMERGENCY)));
      await lab.says(lab.bar, '10% left');
      await Promise.all(ids.map((id) => host.close(id)));
    }
    await nothingRuns();
    await lab.reload();
    await lab.openThreads();
    // While their details are loaded.
    await lab.page.waitForTimeout(10_000);
    await nothingRuns();
    await host.open('runs');
    await host.endsAPhase('runs', 'Task runs', ASAP);
    await lab.says(lab.bar, /45% left · ready(?!.*\+)/);
    await lab.shot('week-one-runs');
    await host.close('runs');
    await nothingRuns();
  });

  test('of three agents that ask at once, each gets its own answer', async () => {
    lab.configure(ASK);
    await Promise.all(['alpha', 'beta', 'gamma'].map(asks));
    await lab.shot('week-three-ask');
    await lab.answer('Task beta', 'Not now');
    await until('the answer to beta', () => answers('beta').length > 0);
    await lab.page.keyboard.press('Control+Alt+r');
    await lab.page.keyboard.press('a');
    await lab.choose('Task gamma');
    await lab.choose('Approve');
    await until('the answer to gamma', () => answers('gamma').length > 0);
    await lab.openThreads();
    await lab.menu(lab.rows.filter({ hasText: 'Task alpha' }).first(), 'Skip This One');
    await until('the answer to alpha', () => answers('alpha').length > 0);
    assert.deepEqual(['alpha', 'beta', 'gamma'].map(answers), [['cancel'], ['snooze'], ['approve']]);
    // A canceled compaction has a way back.
    await lab.answer('Task alpha', 'Compact Anyway');
    await until('the way back', () => answers('alpha').length > 1);
    assert.deepEqual(answers('alpha'), ['cancel', 'compact_now']);
    await Promise.all(['alpha', 'beta', 'gamma'].map((id) => host.close(id)));
    await nothingRuns();
    await lab.command('Notifications: Clear All Notifications');
  });

  test('a row has no button that cancels with one click', async () => {
    await asks('delta');
    const row = lab.rows.filter({ hasText: 'Task delta' }).first();
    await row.hover();
    await row.locator('.actions-container a[aria-label^="Answer the Banner"]').waitFor();
    assert.equal(await row.locator('.actions-container a[aria-label^="Skip"]').count(), 0);
    await lab.shot('week-row');
    await host.close('delta');
    await nothingRuns();
  });

  test('a home that is moved away and made again is watched again', async () => {
    for (const turn of ['first', 'second']) {
      await host.kill();
      renameSync(lab.home, `${lab.home}-${turn}`);
      await until('the end of its threads', async () => (await lab.rows.count()) === 0);
      mkdirSync(lab.home);
      lab.configure(ASK);
      host = await lab.host();
      await asks(turn);
      await lab.says(lab.bar, '1 of 4');
      await lab.answer(`Task ${turn}: Waiting`, 'Not now');
      await until('the answer', () => answers(turn).length > 0);
      await until('the end of the question', async () => !/1 of 4/.test(await lab.bar.innerText()));
      await host.close(turn);
      await nothingRuns();
    }
  });

  test('an agent that is killed while it asks is not shown', async () => {
    await asks('killed');
    await host.kill();
    await nothingRuns();
    host = await lab.host();
  });

  test('a sidecar that hangs is ended, and the question is shown again', async () => {
    await asks('epsilon');
    const hung = lab.sidecar();
    assert.ok(hung !== undefined);
    process.kill(hung, 'SIGSTOP');
    await until('another sidecar', () => ![undefined, hung].includes(lab.sidecar()));
    await until('the end of the hung one', () => !isAlive(hung));
    await lab.says(lab.bar, '1 of 4');
    // The thread's message is not shown twice.
    await lab.page.keyboard.press('Control+Alt+r');
    await lab.page.keyboard.press('a');
    await lab.choose('Not now');
    await until('the answer', () => answers('epsilon').length > 0);
    await host.close('epsilon');
    await nothingRuns();
  });

  test('a sidecar that hangs at its start is ended by Stop, Restart, a setting and a reload', async () => {
    const hang = async (): Promise<number> => {
      lab.settings({ machine: { 'rawr.server.path': HUNG } });
      let hung: number | undefined;
      await until('the sidecar that hangs', () => {
        hung = lab.processes('tail -f /dev/null')[0];
        return hung !== undefined;
      });
      return hung ?? 0;
    };
    const works = async (): Promise<void> => {
      lab.settings({});
      await until('a sidecar', () => lab.sidecar() !== undefined);
      await lab.says(lab.page.locator('.pane-body'), /Task|No threads/);
    };
    const stopped = await hang();
    await lab.command('Rawr: Stop Server');
    await until('the end of the stopped one', () => !isAlive(stopped));
    await lab.says(lab.page.locator('.welcome-view-content'), 'The rawr sidecar is stopped.');
    await works();
    const restarted = await hang();
    await lab.command('Rawr: Restart Server');
    await until('the end of the restarted one', () => !isAlive(restarted));
    await works();
    assert.equal(lab.processes('tail -f /dev/null').length, 0);
    const reloaded = await hang();
    await Promise.all([lab.page.waitForEvent('domcontentloaded'), lab.command('Developer: Reload Window')]);
    await until('the end of the reloaded one', () => !isAlive(reloaded));
    const given = await hang();
    await lab.hears('The rawr sidecar did not answer in 15 s.');
    await until('the end of the one that was given up', () => !isAlive(given));
    await works();
    assert.ok(await succeeds(lab.bar.waitFor({ state: 'hidden' })));
  });
}
