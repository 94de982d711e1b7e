// Reports the activation time that the editor measures, without an assertion.
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

  test('the editor reports the activation time', async (context) => {
    // Rows outside of the viewport are not in the page.
    await lab.page.setViewportSize({ width: 1280, height: 4000 });
    await lab.command('Developer: Show Running Extensions');
    const row = lab.page.locator('.runtime-extensions-editor .extension').filter({ hasText: 'rawr' }).first();
    await row.filter({ hasText: /Activation: \d+ms|Startup Activation: \d+ms/ }).waitFor();
    context.diagnostic((await row.innerText()).replace(/\s+/g, ' '));
  });
}
