// End-to-end tests in real editors, with the packaged extension and the real binary. `npm run test:editor [floor] [newest]`.
import path from 'node:path';
import { describe } from 'node:test';
import { ROOT } from './lab';
import * as activation from './activation';
import * as firstRun from './firstRun';
import * as places from './places';
import * as prompts from './prompts';
import * as threads from './threads';

const chosen = (process.env['RAWR_EDITORS'] ?? 'floor newest').split(' ');

for (const which of chosen) {
  const editor = path.join(ROOT, '.editors', which);
  describe(`VS Code, ${which}`, { concurrency: false }, () => {
    describe('activation', { concurrency: false }, () => activation.journeys(editor));
    describe('first run', { concurrency: false }, () => firstRun.journeys(editor));
    describe('threads', { concurrency: false }, () => threads.journeys(editor));
    describe('prompts', { concurrency: false }, () => prompts.journeys(editor));
    describe('places', { concurrency: false }, () => places.journeys(editor));
  });
}
