import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { PROTOCOL_VERSION } from '../../src/protocol';
import { type Found, NoBinary } from '../../src/server/binary';
import { protocolVersion } from '../../src/server/compatibility';
import { type Process, type ServerState, type SupervisorHost, Supervisor } from '../../src/server/supervisor';

/** A sidecar that can fail at each step. */
class Played implements Process {
  protocolVersion: number | undefined = PROTOCOL_VERSION;
  isRunning = false;
  startFails = false;
  failure: Error = new Error('exit code 3');
  /** It answers nothing. */
  hangs = false;

  async start(): Promise<void> {
    this.isRunning = true;
    if (this.hangs) return new Promise(() => undefined);
    await Promise.resolve();
    if (this.startFails) throw this.failure;
  }

  async stop(): Promise<void> {
    await Promise.resolve();
    this.isRunning = false;
  }

  answers(): Promise<unknown> {
    return this.hangs ? new Promise(() => undefined) : Promise.resolve();
  }

  dispose(): void {
    this.isRunning = false;
  }
}

interface Lab {
  supervisor: Supervisor<Played>;
  started: Played[];
  states: ServerState[];
  closed: (() => void)[];
}

function lab(prepare: (process: Played) => void, more: Partial<SupervisorHost<Played>> = {}): Lab {
  const [started, states, closed]: [Played[], ServerState[], (() => void)[]] = [[], [], []];
  const quiet = (): void => undefined;
  const supervisor = new Supervisor<Played>({
    log: { info: quiet, warn: quiet, error: quiet },
    find: () => Promise.resolve({ path: '/bin/rawr', origin: 'path', version: '0.0.1' }),
    create: (_, ended) => {
      const process = new Played();
      prepare(process);
      started.push(process);
      closed.push(ended);
      return Promise.resolve(process);
    },
    up: () => Promise.resolve(),
    down: quiet,
    stateChanged: (state) => states.push(state),
    ...more,
  });
  return { supervisor, started, states, closed };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
}

/** Lets every wait pass until nothing is started again. */
async function exhaust(work: () => Promise<void>): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  try {
    await work();
    for (let wait = 0; wait < 10; wait++) {
      mock.timers.tick(30_000);
      await settle();
    }
  } finally {
    mock.timers.reset();
  }
}

describe('the supervisor', () => {
  test('runs one sidecar', async () => {
    const { supervisor, started, states } = lab(() => undefined);
    await supervisor.restart();
    assert.deepEqual(
      states.map(({ kind }) => kind),
      ['starting', 'running'],
    );
    await supervisor.restart();
    assert.deepEqual(
      started.map(({ isRunning }) => isRunning),
      [false, true],
    );
    await supervisor.stop();
    assert.equal(states.at(-1)?.kind, 'stopped');
  });

  test('starts nothing after a stop, until it is restarted', async () => {
    let found: (binary: Found) => void = () => undefined;
    const find = (): Promise<Found> => new Promise((resolve) => (found = resolve));
    const { supervisor, started, states } = lab(() => undefined, { find });
    const binary: Found = { path: '/bin/rawr', origin: 'path', version: '0.0.1' };
    const restart = supervisor.restart();
    await supervisor.stop();
    found(binary);
    await restart;
    assert.deepEqual([started.length, states.at(-1)?.kind], [0, 'stopped']);
    const again = supervisor.restart();
    found(binary);
    await again;
    assert.deepEqual([started.length, states.at(-1)?.kind], [1, 'running']);
  });

  test('stops a sidecar whose threads cannot be watched, and gives up with one failure', async () => {
    const { supervisor, started, states } = lab(() => undefined, {
      up: () => Promise.reject(new Error('unknown method rawr/thread/watch')),
    });
    await exhaust(() => supervisor.restart());
    assert.equal(started.length, 6);
    assert.ok(started.every(({ isRunning }) => !isRunning));
    assert.deepEqual(
      states.filter(({ kind }) => kind === 'failed').map((state) => 'cause' in state && state.cause),
      ['crashed'],
    );
  });

  test('a sidecar that crashes at start gives one failure', async () => {
    const { supervisor, started, states } = lab((process) => (process.startFails = true));
    await exhaust(() => supervisor.restart());
    assert.equal(started.length, 6);
    assert.equal(states.filter(({ kind }) => kind === 'failed').length, 1);
  });

  test('a sidecar that does not answer its first request is ended, with one failure', async () => {
    const { supervisor, started, states } = lab((process) => (process.hangs = true));
    await exhaust(() => {
      void supervisor.restart();
      return settle();
    });
    const last = states.at(-1);
    assert.ok(last?.kind === 'failed' && last.cause === 'crashed', JSON.stringify(states));
    assert.match(last.why, /did not answer/);
    assert.deepEqual(
      started.map(({ isRunning }) => isRunning),
      [false],
    );
  });

  test('a sidecar that refuses its settings says why at once', async () => {
    const { supervisor, started, states } = lab((process) => {
      process.startFails = true;
      process.failure = Object.assign(new Error('home must be an absolute path'), { code: -32602 });
    });
    await exhaust(() => supervisor.restart());
    assert.equal(started.length, 1);
    const why = 'home must be an absolute path';
    assert.deepEqual(states.at(-1), { kind: 'failed', cause: 'crashed', why });
  });

  test('a restart, a stop and a new setting end a start that hangs', async () => {
    const { supervisor, started, states } = lab((process) => (process.hangs = started.length === 0));
    void supervisor.restart();
    await settle();
    assert.equal(states.at(-1)?.kind, 'starting');
    await supervisor.restart();
    assert.deepEqual(
      started.map(({ isRunning }) => isRunning),
      [false, true],
    );
    assert.equal(states.at(-1)?.kind, 'running');
    started.length = 0;
    void supervisor.restart();
    void supervisor.restart();
    await settle();
    await supervisor.stop();
    await settle();
    assert.ok(started.every(({ isRunning }) => !isRunning));
    assert.equal(states.at(-1)?.kind, 'stopped');
  });

  // rule: client.connection-check
  test('a sidecar that no longer answers is ended and started again', async () => {
    const { supervisor, started, states } = lab(() => undefined);
    await exhaust(async () => {
      await supervisor.restart();
      (started[0] as Played).hangs = true;
      for (let second = 0; second < 20; second++) {
        mock.timers.tick(1_000);
        await settle();
      }
    });
    assert.deepEqual(
      started.map(({ isRunning }) => isRunning),
      [false, true],
    );
    assert.equal(states.at(-1)?.kind, 'running');
    await supervisor.stop();
  });

  test('an orphan is not left behind by a window that closes', async () => {
    const { supervisor, started } = lab((process) => (process.hangs = true));
    void supervisor.restart();
    await settle();
    supervisor.dispose();
    assert.deepEqual(
      started.map(({ isRunning }) => isRunning),
      [false],
    );
  });

  test('a sidecar that ended by itself is started again', async () => {
    const { supervisor, started, states, closed } = lab(() => undefined);
    await exhaust(async () => {
      await supervisor.restart();
      closed[0]?.();
    });
    assert.equal(started.length, 2);
    assert.equal(states.at(-1)?.kind, 'running');
  });

  for (const [theirs, what] of [
    [undefined, /^rawr 0\.0\.1 is too old for this extension: update rawr\.$/],
    [PROTOCOL_VERSION - 1, /too old/],
    [PROTOCOL_VERSION + 1, /newer than this extension supports: update the extension\.$/],
  ] as const) {
    test(`protocol version ${theirs} is refused once, and says what to update`, async () => {
      const { supervisor, started, states } = lab((process) => (process.protocolVersion = theirs));
      await exhaust(() => supervisor.restart());
      assert.deepEqual(
        started.map(({ isRunning }) => isRunning),
        [false],
      );
      const last = states.at(-1);
      assert.ok(last?.kind === 'failed' && last.cause === 'incompatible');
      assert.match(last.why, what);
    });
  }

  test('without a binary nothing is started', async () => {
    const { supervisor, started, states } = lab(() => undefined, {
      find: () => Promise.reject(new NoBinary('rawr is not installed.')),
    });
    await supervisor.restart();
    assert.equal(started.length, 0);
    assert.deepEqual(states.at(-1), { kind: 'failed', cause: 'missing', why: 'rawr is not installed.' });
  });

  for (const [step, failing] of [
    ['find', { find: () => Promise.reject(new Error('EMFILE')) }],
    ['create', { create: () => Promise.reject(new Error('EMFILE')) }],
  ] as const) {
    test(`an unexpected error in ${step} is a failure, and not an endless start`, async () => {
      const { supervisor, states } = lab(() => undefined, failing);
      await supervisor.restart();
      const why = 'Failed to start rawr: EMFILE';
      assert.deepEqual(states.at(-1), { kind: 'failed', cause: 'crashed', why });
    });
  }

  test('the protocol version is in the result of initialize', () => {
    assert.equal(protocolVersion({ experimental: { rawr: { protocolVersion: 3 } } }), 3);
    for (const other of [undefined, {}, { experimental: 1 }, { experimental: { rawr: {} } }])
      assert.equal(protocolVersion(other), undefined);
  });
});
