import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';

interface Manifest {
  contributes: {
    commands: { command: string; title: string }[];
    configuration: { properties: Record<string, { scope?: string }> };
    menus: Record<string, { command: string }[]>;
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
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

  test('the lock file names no host', () => {
    assert.doesNotMatch(readFileSync('package-lock.json', 'utf8'), /"resolved"/);
  });
});
