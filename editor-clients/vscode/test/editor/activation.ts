// How long activation takes, as the editor itself counts it: told, not asserted.
import { after, afterEach, before, test } from 'node:test';
import { Lab } from './lab';

export function journeys(editor: string): void {
  let lab: Lab;
  before(async () => {
    lab = await Lab.open(editor);
  });
  afterEach(async (context) => {
    await lab.witness(context);
  });
  after(() => lab.close());

  test('the editor says how long activation took', async (context) => {
    // Rows out of sight are not in the page.
    await lab.page.setViewportSize({ width: 1280, height: 4000 });
    await lab.command('Developer: Show Running Extensions');
    const row = lab.page.locator('.runtime-extensions-editor .extension').filter({ hasText: 'rawr' }).first();
    await row.filter({ hasText: /Activation: \d+ms|Startup Activation: \d+ms/ }).waitFor();
    context.diagnostic((await row.innerText()).replace(/\s+/g, ' '));
  });
}
