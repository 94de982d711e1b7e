// End-to-end tests in real editors, with the packaged extension and the real binary. `npm run test:editor` runs all;
// RAWR_EDITORS="floor newest" and RAWR_JOURNEYS="threads prompts" select some.
import path from 'node:path';
import { describe } from 'node:test';
import { ROOT } from './lab';
import * as accessibility from './accessibility';
import * as activation from './activation';
import * as firstRun from './firstRun';
import * as pictures from './pictures';
import * as places from './places';
import * as prompts from './prompts';
import * as threads from './threads';
import * as tools from './tools';
import * as week from './week';

const JOURNEYS = { activation, firstRun, threads, tools, accessibility, prompts, places, pictures, week };

const words = (name: string): string[] | undefined => process.env[name]?.split(' ');
const editors = words('RAWR_EDITORS') ?? ['floor', 'newest'];
const chosen = words('RAWR_JOURNEYS') ?? Object.keys(JOURNEYS);

// Each editor has folders, ports and processes of its own, and waits a third of the time.
describe('VS Code', { concurrency: true }, () => {
  for (const which of editors) {
    const editor = path.join(ROOT, '.editors', which);
    describe(which, { concurrency: false }, () => {
      for (const [name, { journeys }] of Object.entries(JOURNEYS))
        if (chosen.includes(name)) describe(name, { concurrency: false }, () => journeys(editor));
    });
  }
});
