// Screen readers, keyboards and contrast: what the editor says of each surface, answers without a mouse, and axe-core.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import type { Agent } from './agent';
import { problems, webviewStyle } from './axe';
import { type Lab, until } from './lab';
import { PAGES } from './pages';
import { useTheme } from './themes';
import { ASK, TAG, oneWindow } from './working';

const THEMES = ['dark_modern', 'light_modern', 'hc_black', 'hc_light'];

/** What must not be read out: links, markup, icons, and encoded arguments. */
const MARKUP = /\]\(|command:|%[0-9A-F]{2}|\$\(|<[a-z/]|\*\*|[{}"]/;

export function journeys(editor: string): void {
  let lab: Lab;
  const work = oneWindow(editor, (it) => {
    lab = it;
  });

  async function asked(): Promise<Agent> {
    const agent = work(ASK);
    await lab.hears('Waiting for your approval');
    await lab.says(lab.bar, '1 of 4');
    return agent;
  }

  /** The answers of all sequences, oldest first. */
  const answers = (): unknown[] => lab.recorded('responded').map(({ choice }) => choice);

  async function press(...keys: string[]): Promise<void> {
    for (const key of keys) await lab.page.keyboard.press(key);
  }

  async function spoken(of: Locator): Promise<string> {
    const label = await of.first().getAttribute('aria-label');
    assert.doesNotMatch(label ?? '', MARKUP);
    return label ?? '';
  }

  test('the status bar, the message and the rows of the view have names without markup', async () => {
    await asked();
    const item = lab.bar.locator('a');
    assert.match(
      await spoken(item),
      /^rawr, write the parser: 45% left, asap, 1 of 4: Waiting for your approval$/,
    );
    assert.equal(await item.getAttribute('role'), 'button');
    const [message = ''] = await lab.page
      .locator('[aria-label*="Waiting for your approval. A phase"]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
    assert.match(
      message,
      /rawr, write the parser: Waiting for your approval\. A phase ended here .*45% left/,
    );
    assert.doesNotMatch(message, MARKUP);
    for (const button of await lab.toast.getByRole('button').all())
      assert.doesNotMatch((await button.innerText()) || (await spoken(button)), MARKUP);
    await lab.openThreads();
    await until('the name of the thread', async () =>
      (await spoken(lab.rows)).startsWith(
        'write the parser, parser, 45% left, asap, Waiting for your approval',
      ),
    );
    for (const row of await lab.rows.all()) assert.notEqual(await spoken(row), '');
  });

  test('each choice is answered with the keyboard only', async () => {
    const before = answers().length;
    const since = (): unknown[] => answers().slice(before);
    const chord = async (key: string, answer: string): Promise<void> => {
      const agent = await asked();
      await press('Control+Alt+r', key);
      await until(answer, () => since().at(-1) === answer);
      await agent.leave();
      await lab.bar.waitFor({ state: 'hidden' });
      await lab.typeCommand('Notifications: Clear All Notifications');
    };
    await chord('s', 'snooze');
    await chord('x', 'cancel');
    await chord('c', 'approve');
    assert.deepEqual(since(), ['snooze', 'cancel', 'approve']);
  });

  test('the choices, the packet and the decision view are opened with the keyboard only', async () => {
    const before = answers().length;
    await asked();
    await press('Control+Alt+r', 'p');
    await lab.says(lab.page.locator('.view-lines'), 'Built by rawr');
    await lab.typeCommand('View: Close All Editors');
    await press('Control+Alt+r', 'e');
    const links = (await lab.frame('main h1')).locator('summary');
    await until('the focus in the page', async () => {
      await press('Tab');
      return links.first().evaluate((element) => element === element.ownerDocument.activeElement);
    });
    await press('Enter');
    await (await lab.frame('details[open]')).locator('details[open] td').first().waitFor();
    await lab.typeCommand('View: Close All Editors');
    assert.equal(answers().length, before);
    await press('Control+Alt+r', 'a');
    await lab.says(lab.page.locator('.quick-input-list .monaco-list-row.focused'), 'Approve');
    await press('Enter');
    await until('the answer', () => answers().slice(before).includes('approve'));
  });

  test('the message is answered with the keyboard only', async () => {
    const before = answers().length;
    await asked();
    await lab.typeCommand('Notifications: Focus Notification Toast');
    const button = lab.toast.getByRole('button', { name: 'Not now' });
    await until('the focus on a button', async () => {
      await press('Tab');
      return button.evaluate((element) => element === element.ownerDocument.activeElement);
    });
    await press('Enter');
    await until('the answer', () => answers().slice(before).includes('snooze'));
  });

  test('axe-core finds no serious problem in the decision view, in light, dark and high contrast', async () => {
    const agent = work(TAG);
    await lab.says(lab.bar, '45% left');
    agent.prompt('and now more of the parser');
    const page = await lab.page.context().newPage();
    try {
      for (const theme of THEMES) {
        await useTheme(lab, editor, theme);
        await lab.says(lab.bar, '45% left');
        await lab.command('Rawr: Explain the Last Decision');
        const frame = await lab.frame('main h1');
        const style = await webviewStyle(frame);
        assert.match(style.variables, /--vscode-editor-background/, theme);
        // Not frame.content(): a webview's document is written after it has loaded, and in VS Code 1.100 that does not see it.
        const open = await frame.evaluate(() => `<!DOCTYPE html>${document.documentElement.outerHTML}`);
        for (const [shape, html] of Object.entries({ ...PAGES, 'the open one': open }))
          assert.deepEqual(await problems(page, html, style), [], `${theme}: ${shape}`);
        // The audit itself works.
        const faint = PAGES['asking']?.replace('<main>', '<main style="opacity: .3">') ?? '';
        assert.match((await problems(page, faint, style)).join(), /color-contrast/);
        const nameless = PAGES['asking']?.replace(/<html lang="en">/, '<html>') ?? '';
        assert.match((await problems(page, nameless, style)).join(), /html-has-lang/);
      }
    } finally {
      await page.close();
    }
    await lab.command('View: Close All Editors');
  });
}
