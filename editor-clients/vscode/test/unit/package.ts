import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';

interface Manifest {
  contributes: {
    commands: { command: string; title: string }[];
    configuration: { properties: Record<string, Setting> };
    menus: Record<string, { command: string }[]>;
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
const sources = ['commands', 'extension'].map((name) => readFileSync(`src/${name}.ts`, 'utf8')).join('\n');

describe('the package', () => {
  test('has a bundle of less than 500 kB', () => {
    assert.ok(statSync('dist/extension.js').size < 500_000);
  });

  test('registers every command, and declares every command of a menu', () => {
    const named = manifest.contributes.commands.map(({ command }) => command);
    for (const command of named) assert.ok(sources.includes(`'${command}'`), command);
    for (const { command } of Object.values(manifest.contributes.menus).flat())
      assert.ok(named.includes(command), command);
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
    const small = /^(a|an|the|in|of|or|and|for|to|at|by|on|until)$/;
    const shown = Object.entries(JSON.parse(readFileSync('package.nls.json', 'utf8')) as object);
    for (const [key, value] of shown.filter(([name]) => name.startsWith('command.')))
      for (const word of String(value).split(' ')) assert.ok(small.test(word) || /^[A-Z]/.test(word), key);
  });

  test('every choice of a setting has a label', () => {
    for (const [key, setting] of Object.entries(manifest.contributes.configuration.properties))
      assert.equal(setting.enumItemLabels?.length, setting.enum?.length, key);
  });

  test('the lock file names no host', () => {
    assert.doesNotMatch(readFileSync('package-lock.json', 'utf8'), /"resolved"/);
  });
});
