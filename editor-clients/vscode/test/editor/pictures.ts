// The pictures of the docs. Each has its text beside it, as a screen reader gets it; a text that differs means that the pictures
// are out of date. `make-pictures.sh` renews both.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Lab, ROOT, succeeds, until } from './lab';
import { useTheme } from './themes';

const FOLDER = path.join(ROOT, '..', '..', 'docs', 'src', 'pictures', 'vscode');
const SIZE = { width: 1000, height: 640 };
const THEMES = { light: 'light_modern', dark: 'dark_modern' };
const SETTINGS = {
  'breadcrumbs.enabled': false,
  'editor.hover.above': false,
  'editor.minimap.enabled': false,
  'editor.lineNumbers': 'off',
  'window.commandCenter': false,
};

const ASK = '[rawr_auto_compaction]\npreset = "spec"\nmode = "ask"\n';
const MISTAKE = `[rawr_auto_compaction]
preset = "spec"
mode = "ask"

[rawr_auto_compaction.deadlines]
approval_second = 600
`;

/** Without what differs between runs: times, ids and numbers of tokens. */
function stable(text: string): string {
  return text
    .replace(/embedded-[\w-]+/g, 'embedded-…')
    .replace(/\d+:\d\d|\d+ min ago|just now|\d+ min\b|less than a minute/g, '…')
    .replace(/(→ |to about |to )[\d,]+ tokens/g, '$1… tokens')
    .replace(/[\u00a0\t ]+/g, ' ')
    .replace(/ ?\n\s*/g, '\n')
    .trim();
}

async function names(lab: Lab, selector: string): Promise<string[]> {
  const all = await lab.page
    .locator(selector)
    .evaluateAll((found) => found.map((one) => one.ariaLabel ?? ''));
  return all.filter(Boolean);
}

/** The threads view while a compaction waits for an answer. */
async function threads(lab: Lab): Promise<string> {
  lab.configure(ASK);
  await lab.command('Rawr Agents: Focus on Threads View');
  await lab.hears('Waiting for your approval');
  await lab.says(lab.bar, '1 of 4');
  await lab.says(lab.rows, 'Waiting for your approval');
  await widen(lab);
  const done = lab.rows.filter({ hasText: 'rename the tokens' }).first();
  await done.click();
  await lab.says(lab.rows, /→ \d+ tokens/);
  await lab.page.mouse.move(700, 300);
  const buttons = await lab.toast.getByRole('button').allInnerTexts();
  const rows = await names(lab, '.tree-explorer-viewlet-tree-view .monaco-list-row');
  const bar = await names(lab, '.statusbar-item[id="rawr.rawr.pressure"] a');
  const message = await lab.toast.locator('.notification-list-item-message').innerText();
  return [...bar, message, buttons.filter(Boolean).join(' | '), ...rows].join('\n');
}

/** Makes the side bar as wide as its rows. */
async function widen({ page }: Lab): Promise<void> {
  const box = await page.locator('.part.sidebar').boundingBox();
  if (!box) throw new Error('no side bar');
  const edge = box.x + box.width;
  await page.mouse.move(edge, 400);
  await page.mouse.down();
  await page.mouse.move(edge + 90, 400, { steps: 5 });
  await page.mouse.move(560, 400, { steps: 5 });
  await page.mouse.up();
}

async function decision(lab: Lab): Promise<string> {
  await lab.command('Notifications: Clear All Notifications');
  await lab.command('View: Close Primary Side Bar');
  await lab.command('Rawr: Explain the Last Decision');
  const frame = await lab.frame('main h1');
  await frame.locator('summary').first().waitFor();
  await lab.page.mouse.move(900, 40);
  return frame.locator('main').innerText();
}

/** `rawr.toml` with a mistake and its problem, beside a prompt with its length. */
async function configuration(lab: Lab): Promise<string> {
  const { page } = lab;
  await lab.command('Notifications: Clear All Notifications');
  await lab.command('View: Close All Editors');
  await lab.command('Rawr: Open a Prompt…');
  await lab.choose('heads-up');
  await page.locator('.tab', { hasText: 'heads-up.md' }).waitFor();
  const lens = page
    .locator('.codelens-decoration')
    .filter({ hasText: 'renders to' })
    .filter({ visible: true });
  await lens.first().waitFor();
  lab.configure(MISTAKE);
  await lab.command('View: Split Editor Left');
  await until('rawr.toml', async () => {
    await lab.command('Rawr: Open the Configuration…');
    return succeeds(page.locator('.tab', { hasText: 'rawr.toml' }).waitFor({ timeout: 3_000 }));
  });
  await page.locator('.squiggly-warning, .squiggly-error').first().waitFor();
  await lens.first().waitFor();
  await page.keyboard.press('Control+g');
  await page.keyboard.type('6:5');
  await page.keyboard.press('Enter');
  const hover = page.locator('.monaco-hover .hover-contents');
  let contents: string[] = [];
  await until('the hover', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+i');
    await succeeds(hover.filter({ hasText: 'approval_seconds' }).first().waitFor({ timeout: 3_000 }));
    // In one step: a hover that closes meanwhile has its text without lines.
    contents = await hover.evaluateAll((found) =>
      found.filter((one) => one.checkVisibility()).map((one) => (one as HTMLElement).innerText),
    );
    return contents.some((text) => text.includes('approval_seconds'));
  });
  return [MISTAKE, ...contents, await lens.first().innerText()].join('\n');
}

const SCENES = { threads, decision, configuration };

async function prepared(editor: string, theme: string): Promise<Lab> {
  const lab = await Lab.open(editor);
  lab.configure(ASK);
  await lab.page.setViewportSize(SIZE);
  await useTheme(lab, editor, theme, SETTINGS);
  const done = lab.agent();
  done.prompt('rename the tokens');
  await lab.hears('Waiting for your approval');
  await lab.answer('Waiting for your approval', 'Approve');
  await lab.says(lab.bar, '94% left');
  await done.leave();
  await lab.bar.waitFor({ state: 'hidden' });
  await lab.command('Notifications: Clear All Notifications');
  await work(lab);
  return lab;
}

/** A thread with some decisions before the one that asks. */
async function work(lab: Lab): Promise<void> {
  const { model } = lab;
  const last = model.next;
  const agent = lab.agent();
  const turns = { 'write the parser': 2_000, 'and its errors': 3_500 };
  for (const [prompt, tokens] of Object.entries(turns)) {
    model.next = { says: 'I read the grammar.', tokens };
    agent.prompt(prompt);
    await lab.says(lab.bar, `${100 - tokens / 100}% left`);
  }
  model.next = last;
  agent.prompt('and its tests');
}

function picture(name: string): string {
  mkdirSync(FOLDER, { recursive: true });
  return path.join(FOLDER, name);
}

export function journeys(editor: string): void {
  const isMaking = process.env['RAWR_PICTURES'] === 'make';
  for (const [theme, file] of Object.entries(isMaking ? THEMES : { light: THEMES.light })) {
    test(`the pictures show what the extension shows (${theme})`, async () => {
      const lab = await prepared(editor, file);
      try {
        for (const [name, scene] of Object.entries(SCENES)) {
          const text = `${stable(await scene(lab))}\n`;
          await lab.shot(`picture-${name}`);
          if (isMaking) {
            const to = picture(`${name}-${theme}.png`);
            await lab.page.screenshot({ path: to, animations: 'disabled', caret: 'hide' });
            writeFileSync(picture(`${name}.txt`), text);
          }
          assert.equal(text, readFileSync(picture(`${name}.txt`), 'utf8'), 'test/editor/make-pictures.sh');
        }
      } catch (error) {
        await lab.shot('failed-pictures');
        throw error;
      } finally {
        await lab.close();
      }
    });
  }
}
