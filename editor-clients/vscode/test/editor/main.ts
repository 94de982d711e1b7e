// End-to-end tests in real editors, with the packaged extension and the real binary. `npm run test:editor` runs all;
// RAWR_EDITORS="floor newest" and RAWR_JOURNEYS="threads prompts" select some. dist/failed-journeys names the groups that failed;
// RAWR_AGAIN names such a file: only those groups are run.
import { readFileSync } from 'node:fs';
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

const JOURNEYS = { threads, places, week, firstRun, prompts, tools };

// What the extension looks and sounds like comes from the editor: it is tested in the one that most people have.
const NEWEST_ONLY = { accessibility, pictures };

// Measures, and tests nothing.
const WHERE_ASKED_FOR = { activation };

const ALL = { ...NEWEST_ONLY, ...JOURNEYS, ...WHERE_ASKED_FOR };

const words = (name: string): string[] | undefined => process.env[name]?.split(' ');
const editors = words('RAWR_EDITORS') ?? ['floor', 'newest'];
const chosen = words('RAWR_JOURNEYS') ?? Object.keys({ ...NEWEST_ONLY, ...JOURNEYS });

const again = process.env['RAWR_AGAIN'] && readFileSync(process.env['RAWR_AGAIN'], 'utf8').split('\n');
const isChosen = (name: string, which: string): boolean =>
  again
    ? again.includes(title(name, which))
    : chosen.includes(name) && editors.includes(which) && (which === 'newest' || !(name in NEWEST_ONLY));

const title = (name: string, which: string): string => `${which}: ${name}`;

// Each suite has a window with folders, ports and processes of its own. With more at once than an ordinary machine has cores,
// editors start too slowly for the limits of the suites. Those that take longest come first.
const AT_ONCE = 2;

describe('VS Code', { concurrency: AT_ONCE }, () => {
  for (const [name, { journeys }] of Object.entries(ALL))
    for (const which of ['floor', 'newest'])
      if (isChosen(name, which))
        describe(title(name, which), { concurrency: false }, () =>
          journeys(path.join(ROOT, '.editors', which)),
        );
});
