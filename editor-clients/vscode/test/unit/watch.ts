import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { Threads } from '../../src/model/threads';
import type { Notifications, Requests } from '../../src/protocol';
import { type Sidecar, askOfThread, said } from '../../src/sidecar';
import { Watch, isWithin } from '../../src/watch';
import { NOW, changed, decision, details, headsUp, summary } from './samples';

/** A fake sidecar that records its requests. */
class Played implements Sidecar {
  readonly asked: string[] = [];
  readonly answers: Partial<Record<keyof Requests, (params: never) => unknown>> = {
    'rawr/thread/watch': () => ({ threads: [summary()] }),
    'rawr/thread/list': () => ({ threads: [summary()] }),
    'rawr/thread/get': () => details().thread,
    'rawr/decision/list': () => ({ decisions: [decision()] }),
    'rawr/capsule/list': () => ({ capsules: [], unread: [] }),
    'rawr/thread/unwatch': () => ({}),
  };
  private readonly heard = new Map<string, (params: never) => void>();

  async ask<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]> {
    this.asked.push(method);
    await Promise.resolve();
    return (await this.answers[method]?.(params as never)) as Requests[M][1];
  }

  on<N extends keyof Notifications>(
    method: N,
    hear: (params: Notifications[N]) => void,
  ): { dispose(): void } {
    this.heard.set(method, hear);
    return { dispose: () => this.heard.delete(method) };
  }

  tell<N extends keyof Notifications>(method: N, params: Notifications[N]): void {
    this.heard.get(method)?.(params as never);
  }
}

const begun: Watch[] = [];

/** Disposed after each test, because a running watch would keep a failed run alive. */
afterEach(() => begun.splice(0).forEach((watch) => watch.dispose()));

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

async function watching(
  played: Played,
  folders: string[] = [],
): Promise<{ threads: Threads; watch: Watch; failures: string[] }> {
  const [threads, failures] = [new Threads(), [] as string[]];
  const failed = (what: string, why: string): void => void failures.push(`${what}: ${why}`);
  const watch = new Watch(played, threads, {
    folders,
    now: () => NOW,
    changed: () => undefined,
    told: {},
    failed,
  });
  begun.push(watch);
  await watch.begin();
  return { threads, watch, failures };
}

describe('the watch', () => {
  test('watches every open folder, and loads its threads', async () => {
    const played = new Played();
    const { threads, watch } = await watching(played, ['/home/me/parser', '/home/me/docs']);
    assert.equal(played.asked.filter((method) => method === 'rawr/thread/watch').length, 2);
    assert.equal(threads.all.length, 1);
    assert.equal(threads.get('t')?.details?.decisions.length, 1);
    await watch.end();
    assert.equal(played.asked.filter((method) => method === 'rawr/thread/unwatch').length, 2);
  });

  test('details that were requested before a change are loaded again', async () => {
    const played = new Played();
    const { threads } = await watching(played);
    let answer = (): void => undefined;
    const old = details().thread;
    played.answers['rawr/thread/get'] = () => new Promise((resolve) => (answer = () => resolve(old)));
    played.tell('rawr/thread/changed', changed({ phase: 'idle', sequenceId: undefined }));
    await settled();
    const asked = headsUp({ deadlineAtMs: NOW + 5 });
    played.tell('rawr/thread/changed', changed({ headsUp: asked }));
    played.answers['rawr/thread/get'] = () => ({ ...old, sequenceId: 's1', headsUp: asked });
    answer();
    await settled();
    assert.equal(threads.banners[0]?.headsUp.deadlineAtMs, NOW + 5);
  });

  test('a new thread is loaded from the list', async () => {
    const played = new Played();
    const { threads } = await watching(played);
    played.answers['rawr/thread/list'] = () => ({ threads: [summary(), summary({ threadId: 'new' })] });
    played.tell('rawr/thread/changed', changed({ threadId: 'new' }));
    await settled();
    assert.ok(threads.get('new'));
  });

  test('changes of the list are applied, and the list is requested once', async () => {
    const played = new Played();
    const { threads } = await watching(played);
    await settled();
    const listed = (): number => played.asked.filter((method) => method === 'rawr/thread/list').length;
    assert.equal(listed(), 1);
    played.answers['rawr/thread/get'] = ({ threadId }: { threadId: string }) =>
      details({ thread: summary({ threadId, running: false }) }).thread;
    played.tell('rawr/thread/listChanged', {
      threads: [summary({ running: false }), summary({ threadId: 'new' })],
      gone: [],
    });
    await settled();
    assert.ok(threads.get('new')?.details);
    assert.equal(threads.get('t')?.summary.running, false);
    played.tell('rawr/thread/listChanged', { threads: [], gone: ['t'] });
    assert.equal(threads.get('t'), undefined);
    assert.equal(listed(), 1);
  });

  test('a list that is older than a change does not undo it', async () => {
    const played = new Played();
    const { threads, watch } = await watching(played);
    await settled();
    let answer = (): void => undefined;
    const old = { threads: [summary({ phase: 'awaiting_approval' })] };
    played.answers['rawr/thread/list'] = () => new Promise((resolve) => (answer = () => resolve(old)));
    played.answers['rawr/thread/get'] = () => new Promise(() => undefined);
    void watch.refresh();
    await settled();
    played.tell('rawr/thread/changed', changed({ phase: 'idle', sequenceId: undefined }));
    played.answers['rawr/thread/list'] = () => ({ threads: [summary({ phase: 'idle' })] });
    answer();
    await settled();
    assert.equal(threads.get('t')?.summary.phase, 'idle');
  });

  test('threads of other folders are not shown', async () => {
    const played = new Played();
    played.answers['rawr/thread/list'] = () => ({
      threads: [summary(), summary({ threadId: 'far', cwd: '/else' })],
    });
    const { threads, watch } = await watching(played, ['/home/me']);
    await watch.refresh();
    assert.deepEqual(
      threads.all.map((thread) => thread.summary.threadId),
      ['t'],
    );
  });

  test('a refusal is logged, and the state is kept', async () => {
    const played = new Played();
    const { threads, watch, failures } = await watching(played);
    played.answers['rawr/thread/list'] = () => Promise.reject(new Error('the disk is full'));
    await watch.refresh();
    assert.deepEqual(failures, ['rawr/thread/list: the disk is full']);
    assert.equal(threads.all.length, 1);
  });
});

describe('a question about a thread', () => {
  test('opens an unwatched thread for its duration', async () => {
    const played = new Played();
    let known = false;
    const unknown = Object.assign(new Error('no such thread'), { code: -31001 });
    played.answers['rawr/guard/list'] = () => (known ? { guards: [] } : Promise.reject(unknown));
    played.answers['rawr/thread/open'] = () => ((known = true), {});
    await askOfThread(played, '/w', 'rawr/guard/list', { threadId: 't' });
    assert.deepEqual(played.asked, [
      'rawr/guard/list',
      'rawr/thread/open',
      'rawr/guard/list',
      'rawr/thread/close',
    ]);
  });

  test('a refusal has a hint', () => {
    const refused = Object.assign(new Error('the thread’s phase does not allow it'), {
      data: { hint: 'wait' },
    });
    assert.equal(said(refused), 'the thread’s phase does not allow it: wait');
  });
});

test('a folder contains itself and its subfolders, but no folder with the same prefix', () => {
  const held = ['/w', '/w/', '/w/a', '/wx', '/'].map((path) => isWithin('/w/', path));
  assert.deepEqual(held, [true, true, true, false, false]);
});

test('a folder opened through a link contains the threads of its target', () => {
  const root = mkdtempSync(join(tmpdir(), 'rawr-'));
  const [folder, link] = [join(root, 'real'), join(root, 'link')];
  mkdirSync(join(folder, 'below'), { recursive: true });
  symlinkSync(folder, link);
  const held = [
    [link, join(folder, 'below')],
    [folder, link],
    [join(folder, 'below'), link],
  ];
  assert.deepEqual(
    held.map(([outer, inner]) => isWithin(outer ?? '', inner ?? '')),
    [true, true, false],
  );
  rmSync(root, { recursive: true });
});
