// Journeys that share one window, with a new agent and thread for each.
import { after, afterEach, before } from 'node:test';
import type { Agent } from './agent';
import { Lab } from './lab';

export const ASK = '[rawr_auto_compaction]\npreset = "spec"\nmode = "ask"\n';
export const AUTO = '[rawr_auto_compaction]\npreset = "spec"\nmode = "auto"\n';
export const TAG = '[rawr_auto_compaction]\nmode = "tag"\n';

/** Starts an agent that is at the end of a phase, with little context left. */
export type Work = (configuration: string, folder?: string) => Agent;

/** Opens the window before the first journey of a suite. */
export function oneWindow(editor: string, opened: (lab: Lab) => void | Promise<void>): Work {
  let lab: Lab;
  let agent: Agent | undefined;
  before(async () => {
    lab = await Lab.open(editor);
    await opened(lab);
  });
  afterEach(async (context) => {
    await lab.witness(context);
    lab.model.release();
    await agent?.leave();
    agent = undefined;
    // The next journey's thread must be the only running one.
    await lab.bar.waitFor({ state: 'hidden' });
  });
  after(() => lab.close());
  return (configuration, folder = lab.folder) => {
    lab.configure(configuration);
    lab.model.seen.length = 0;
    agent = lab.agent(folder);
    agent.prompt('write the parser');
    return agent;
  };
}
