// A reporter for Node's test runner: the groups of journeys that failed, one a line.
const GROUP = 1;

export default async function* (events) {
  for await (const { type, data } of events)
    if (type === 'test:fail' && data.nesting === GROUP) yield `${data.name}\n`;
}
