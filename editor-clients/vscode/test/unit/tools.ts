import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { apiThreads } from '../../src/model/api';
import { commandLine } from '../../src/model/commandLine';
import { debugInformation, plainDebugInformation } from '../../src/model/debugInformation';
import { counted, guardPicks } from '../../src/model/picks';
import { Threads } from '../../src/model/threads';
import { expandedHome, possibleHomes } from '../../src/server/homes';
import { report } from '../../src/server/run';
import { NOW, changed, headsUp, summary } from './samples';

describe('a command in a terminal', () => {
  test('reaches the program as it is, whatever is in its words', () => {
    const words = ['recall', '--', "it's", 'a b', '$HOME', '`id`', '~', '*', ''];
    const line = commandLine('/bin/echo', '', words);
    const printed = execFileSync('sh', ['-c', line.replace('/bin/echo', 'printf "%s\\n"')], {
      encoding: 'utf8',
    });
    assert.deepEqual(printed.split('\n').slice(0, -1), words);
  });

  test('names the home of the setting', () => {
    assert.equal(commandLine('/opt/my rawr', '/h', ['doctor']), "'/opt/my rawr' doctor --home /h");
  });
});

describe('debug information', () => {
  const facts = {
    facts: { extension: '0.1.0' },
    settings: { 'rawr.home': '/home/me/agents', 'rawr.server.args': ['--key', 'hunter2'] },
    log: '',
  };

  test('has versions, settings and the end of the log', () => {
    const log = Array.from({ length: 99 }, (_, at) => `line ${at}`).join('\n');
    const text = debugInformation({ ...facts, log });
    for (const part of ['extension: 0.1.0', 'rawr.home: "/home/me/agents"', 'line 98'])
      assert.ok(text.includes(part), part);
    assert.ok(!text.includes('line 1\n'));
    assert.doesNotMatch(text, /hunter2/);
  });

  test('has only names and versions where no binary can remove secrets', () => {
    const text = plainDebugInformation({ ...facts, log: 'token hunter2' });
    assert.match(text, /extension: 0\.1\.0\nrawr\.home is set, its value is left out/);
    assert.doesNotMatch(text, /hunter2|agents/);
  });

  test('is what the binary prints, also if a check fails', async () => {
    const sh = (script: string): Promise<string> => report('/bin/sh', ['-c', script], 'facts', 5_000);
    assert.equal(await sh('cat; exit 1'), 'facts');
    await assert.rejects(sh('echo "unexpected argument --append" >&2; exit 2'), /unexpected argument/);
    await assert.rejects(report('/nowhere/rawr', [], '', 5_000), /ENOENT/);
  });
});

describe('the end of a guard', () => {
  test('can be a number that the user types', () => {
    const ends = guardPicks().flatMap(({ value }) => (value.kind === 'count' ? [value] : []));
    assert.deepEqual(
      ends.map((end) => counted(end, ' 7 ')),
      [
        { kind: 'turns', turns: 7 },
        { kind: 'minutes', minutes: 7 },
      ],
    );
    for (const text of ['', '0', '-1', '1.5', 'x', '100000'])
      assert.equal(counted({ kind: 'count', of: 'turns' }, text), undefined);
  });
});

describe('the configuration of Codex', () => {
  test('is looked for in folders that may be the home, and in no other', () => {
    assert.deepEqual(possibleHomes('/set', { RAWR_HOME: '/r' }, '/home/me'), ['/set']);
    const variables = { RAWR_HOME: '/r', CODEX_HOME: '' };
    assert.deepEqual(possibleHomes('', variables, '/home/me'), ['/r', '/home/me/.rawr', '/home/me/.codex']);
  });
});

test('a home may begin with ~', () => {
  const expanded = ['~/rawr-other', '~', '/set/~/x', '~ada/x', ''].map((home) =>
    expandedHome(home, '/home/me'),
  );
  assert.deepEqual(expanded, ['/home/me/rawr-other', '/home/me', '/set/~/x', '~ada/x', '']);
});

describe('the interface for other extensions', () => {
  test('has the threads, without what only this extension needs', () => {
    const threads = new Threads();
    threads.listed([summary({ title: 'Write the parser' })]);
    threads.changed(changed({ title: 'Write the parser', headsUp: headsUp() }), NOW);
    assert.deepEqual(apiThreads(threads), [
      {
        id: 't',
        name: 'Write the parser',
        folder: '/home/me/parser',
        running: true,
        percentLeft: 62,
        tier: 'ready',
        asking: true,
      },
    ]);
  });

  test('is documented as it is', () => {
    const fields = (file: string): string[] =>
      [...readFileSync(file, 'utf8').matchAll(/^ +readonly (\w+): (.+);/gm)].map(([, ...field]) =>
        field.join(': '),
      );
    assert.deepEqual(fields('README.md'), [...fields('src/api.ts'), ...fields('src/model/api.ts')]);
  });
});
