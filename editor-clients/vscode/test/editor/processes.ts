// The running processes.
import { execFileSync } from 'node:child_process';

/** The descendants of a process whose command line contains this text. */
export function processesBelow(root: number | undefined, text: string): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const processes = listed.flatMap((line) => {
    const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return args === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
  const below = new Set([root]);
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const { pid, parent } of processes) if (below.has(parent)) below.add(pid);
  }
  return processes.filter(({ pid, args }) => below.has(pid) && args.includes(text)).map(({ pid }) => pid);
}
