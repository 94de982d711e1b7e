import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { apiThreads } from '../../src/model/api';
import { commandLine } from '../../src/model/commandLine';
import { debugInformation } from '../../src/model/debugInformation';
import { counted, guardPicks } from '../../src/model/picks';
import { Threads } from '../../src/model/threads';
import { possibleHomes } from '../../src/server/homes';
import { output } from '../../src/server/run';
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
    doctor: 'ok  /home/me/.rawr',
    log: '',
    home: '/home/me',
  };

  test('has versions, settings, the check and the end of the log', () => {
    const log = Array.from({ length: 99 }, (_, at) => `line ${at}`).join('\n');
    const text = debugInformation({ ...facts, log });
    for (const part of ['extension: 0.1.0', 'rawr.home: "~/agents"', 'ok  ~/.rawr', 'line 98'])
      assert.ok(text.includes(part), part);
    assert.ok(!text.includes('line 1\n'));
  });

  test('has no secrets, and not the name of the user', () => {
    const secrets = [
      'Bearer abc.def',
      'sk-abcdefghijkl',
      'api_key=hunter2',
      ['https://me', 'hunter2@x.example'].join(':'),
    ];
    const text = debugInformation({ ...facts, log: secrets.join('\n') });
    assert.doesNotMatch(text, /hunter2|abc|\/home\/me/);
  });

  test('has the output of a check that fails', async () => {
    assert.equal(await output('/bin/sh', ['-c', 'echo fail; exit 1'], 5_000), 'fail');
    assert.match(await output('/nowhere/rawr', [], 5_000), /ENOENT/);
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
