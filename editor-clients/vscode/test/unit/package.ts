import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { answerPicks } from '../../src/model/picks';
import { headsUp } from './samples';

interface Manifest {
  contributes: {
    commands: { command: string; title: string; enablement?: string }[];
    configuration: { properties: Record<string, Setting> };
    keybindings: { command: string; key: string; when: string }[];
    menus: Record<string, { command: string; when?: string; group?: string }[]>;
    viewsWelcome: { when: string }[];
    walkthroughs: {
      steps: { id: string; media: { svg: string; altText: string }; completionEvents: string[] }[];
    }[];
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}

interface Setting {
  scope?: string;
  enum?: string[];
  enumItemLabels?: string[];
}

const text = readFileSync('package.json', 'utf8');
const manifest = JSON.parse(text) as Manifest;
const sources = ['commands', 'window'].map((name) => readFileSync(`src/${name}.ts`, 'utf8')).join('\n');

describe('the package', () => {
  test('has bundles of less than 520 kB, and a small one is enough for activation', () => {
    const [extension = 0, window = 0, client = 0] = ['extension', 'window', 'client'].map(
      (name) => statSync(`dist/${name}.js`).size,
    );
    assert.ok(extension + window + client < 520_000);
    assert.ok(extension < 12_000);
  });

  test('registers every command, and declares every command of a menu', () => {
    const named = manifest.contributes.commands.map(({ command }) => command);
    for (const command of named) assert.ok(sources.includes(`'${command}'`), command);
    for (const { command } of Object.values(manifest.contributes.menus).flat())
      assert.ok(named.includes(command), command);
  });

  test('has no button in a row that cancels a compaction with one click', () => {
    const inline = (manifest.contributes.menus['view/item/context'] ?? []).filter(({ group }) =>
      group?.startsWith('inline'),
    );
    assert.ok(!inline.some(({ command }) => command === 'rawr.cancel'));
  });

  test('has a translation for every text and no others', () => {
    const used = new Set([...text.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key));
    const given = Object.keys(JSON.parse(readFileSync('package.nls.json', 'utf8')) as object);
    assert.deepEqual([...used].sort(), given.sort());
  });

  test('does not let a folder set the program or the home, trusted or not', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    assert.deepEqual(restrictedConfigurations, ['rawr.server.path', 'rawr.server.args', 'rawr.home']);
    const { properties } = manifest.contributes.configuration;
    const scopes = restrictedConfigurations.map((key) => properties[key]?.scope);
    assert.deepEqual(scopes, ['machine', 'machine', 'machine']);
  });

  test('every step of the walkthrough has its picture in the colors of the theme, and completes', () => {
    const steps = manifest.contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
    assert.equal(new Set(steps.map(({ media }) => media.svg)).size, steps.length);
    for (const { media, completionEvents } of steps) {
      const picture = readFileSync(media.svg, 'utf8');
      assert.doesNotMatch(picture, /(fill|stroke)="(?!none|var\(--vscode-)/, media.svg);
      assert.ok(media.altText && completionEvents.length > 0);
    }
  });

  test('a step that explains or opens something completes only after that was shown', () => {
    const [, , , why, prompts] = manifest.contributes.walkthroughs[0]?.steps ?? [];
    assert.deepEqual(why?.completionEvents, ['onContext:rawr.hasExplained']);
    assert.deepEqual(prompts?.completionEvents, ['onContext:rawr.hasOpenedPrompt']);
  });

  test('texts that render no code have no backticks', () => {
    const shown = Object.entries(JSON.parse(readFileSync('package.nls.json', 'utf8')) as object);
    const plain = shown.filter(([key]) => /^(walk|welcome|command|view|color)\./.test(key));
    for (const [key, value] of plain) assert.doesNotMatch(String(value), /`/, key);
  });

  test('command titles are in title case', () => {
    const small = /^(a|an|the|as|in|of|or|and|for|to|at|by|on|until)$/;
    const shown = Object.entries(JSON.parse(readFileSync('package.nls.json', 'utf8')) as object);
    for (const [key, value] of shown.filter(([name]) => name.startsWith('command.')))
      for (const word of String(value).split(' ')) assert.ok(small.test(word) || /^[A-Z]/.test(word), key);
  });

  test('every choice of a setting has a label', () => {
    for (const [key, setting] of Object.entries(manifest.contributes.configuration.properties))
      assert.equal(setting.enumItemLabels?.length, setting.enum?.length, key);
  });

  test('uses only context keys that are set', () => {
    const { commands, keybindings, menus, viewsWelcome } = manifest.contributes;
    const conditions = [
      ...commands.map(({ enablement }) => enablement),
      ...keybindings.map(({ when }) => when),
    ];
    conditions.push(...Object.values(menus).flatMap((items) => items.map(({ when }) => when)));
    conditions.push(...viewsWelcome.map(({ when }) => when));
    const used = conditions.flatMap((one) => one?.match(/\brawr\.\w+/g) ?? []);
    const set = ['contexts', 'serverNotice']
      .map((name) => readFileSync(`src/surface/${name}.ts`, 'utf8'))
      .join();
    for (const key of new Set(used)) assert.ok(key === 'rawr.threads' || set.includes(`'${key}'`), key);
  });

  test('the quick pick names the keys of the answers', () => {
    const { keybindings } = manifest.contributes;
    assert.ok(keybindings.every(({ when }) => when === 'rawr.asking'));
    const declared = keybindings.map(({ key }) => key.toUpperCase());
    for (const choice of ['approve', 'compact_now', 'snooze', 'cancel', 'edit_packet'] as const) {
      const headsUpOfOne = headsUp({ choices: [{ choice, label: 'x' }] });
      const [pick] = answerPicks({ threadId: 't', headsUp: headsUpOfOne });
      assert.ok(declared.includes(pick?.description?.toUpperCase() ?? ''), choice);
    }
  });

  test('the lock file names no host', () => {
    assert.doesNotMatch(readFileSync('package-lock.json', 'utf8'), /"resolved"/);
  });
});
