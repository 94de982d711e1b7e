// The documents that are rawr's by their names.
const TOML = '**/{rawr,.rawr}.toml';
const PROMPTS = '**/auto-compact/*.md';

/** May be sent to the sidecar, which ignores those that are not rawr's. */
export const SERVED = [TOML, PROMPTS].map((pattern) => ({ scheme: 'file', pattern }));

/** With those that only get colors. */
export const DOCUMENTS = [...SERVED, { scheme: 'file', pattern: '**/rawr.tests.toml' }];
