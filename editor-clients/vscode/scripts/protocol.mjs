// Writes src/protocol.ts from the protocol's schema, so that payload types are written down once.
// `node scripts/protocol.mjs --check` fails where the file is not what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../protocol-schema/', import.meta.url);
const target = fileURLToPath(new URL('../src/protocol.ts', import.meta.url));
const read = (name) => JSON.parse(readFileSync(new URL(name, root), 'utf8'));

const name = (ref) => ref.slice(ref.lastIndexOf('/') + 1);
const literal = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

function doc(text, indent) {
  if (!text) return '';
  const lines = text.split('\n');
  if (lines.length === 1) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`).join('\n')}\n${indent} */\n`;
}

function type(schema, indent) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema.$ref) return name(schema.$ref);
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => type(part, indent)).join(' & ');
  const either = schema.oneOf ?? schema.anyOf;
  const object = schema.properties ? fields(schema, indent) : undefined;
  if (either) {
    const union = either.map((part) => type(part, indent)).join(' | ');
    return object ? `${object} & (${union})` : union;
  }
  if (object) return object;
  return plain(schema, indent);
}

function plain(schema, indent) {
  const kinds = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (kinds.length > 1) return kinds.map((kind) => plain({ ...schema, type: kind }, indent)).join(' | ');
  switch (kinds[0]) {
    case 'array':
      return `Array<${type(schema.items, indent)}>`;
    case 'boolean':
    case 'string':
    case 'null':
      return kinds[0];
    case 'integer':
    case 'number':
      return 'number';
    case 'object': {
      const values = schema.additionalProperties;
      return `Record<string, ${values && values !== true ? type(values, indent) : 'unknown'}>`;
    }
    default:
      return 'unknown';
  }
}

function fields(schema, indent) {
  const required = new Set(schema.required ?? []);
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties).map(([key, value]) => {
    const mark = required.has(key) || (value.default !== undefined && key !== 'kind') ? '' : '?';
    return `${doc(value.description, inner)}${inner}${key}${mark}: ${type(value, inner)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

// What a client sends may leave out whatever has a default; what it reads may not.
function asSent(definition) {
  const properties = Object.fromEntries(
    Object.entries(definition.properties ?? {}).map(([key, value]) => [
      key,
      { ...value, default: undefined },
    ]),
  );
  return { ...definition, properties };
}

// What a definition names, and what those name in turn.
function reach(definitions, keys) {
  const seen = new Set();
  const visit = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (typeof value.$ref === 'string') open(name(value.$ref));
    Object.values(value).forEach(visit);
  };
  const open = (key) => {
    if (seen.has(key)) return;
    seen.add(key);
    visit(definitions[key]);
  };
  keys.forEach(open);
  return seen;
}

function onlySent(definitions) {
  const keys = Object.keys(definitions);
  const read = reach(
    definitions,
    keys.filter((key) => /(Result|Notification)$/.test(key)),
  );
  const sent = reach(
    definitions,
    keys.filter((key) => key.endsWith('Params')),
  );
  return new Set([...sent].filter((key) => !read.has(key)));
}

function definition([key, schema], sentOnly) {
  const sent = sentOnly.has(key) ? asSent(schema) : schema;
  const shape = type(sent, '');
  const isInterface = shape.startsWith('{') && shape.endsWith('}') && !schema.oneOf && !schema.anyOf;
  const head = doc(schema.description, '');
  return isInterface
    ? `${head}export interface ${key} ${shape}\n`
    : `${head}export type ${key} = ${shape};\n`;
}

// The words for names that people read, keyed by name.
function labels(definitions) {
  const vocabularies = Object.entries(definitions).filter(([, { oneOf }]) => oneOf?.[0]?.title !== undefined);
  const tables = vocabularies.map(([key, { oneOf }]) => {
    const lines = oneOf.map((part) => `    ${part.const}: ${quoted(part.title)},\n`);
    return [`  ${key}: Record<${key}, string>;\n`, `  ${key}: {\n${lines.join('')}  },\n`];
  });
  const [types, values] = [0, 1].map((at) => tables.map((table) => table[at]).join(''));
  return `/** What people read for names. The English words are the keys of translations. */\nexport const LABELS: {\n${types}} = {\n${values}};\n`;
}

const quoted = (text) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);

function methods(all, kind, direction) {
  return all.filter(
    (m) => m['x-kind'] === kind && m['x-direction'] === direction && m.name.startsWith('rawr/'),
  );
}

function generate() {
  const { definitions, 'x-protocolVersion': version } = read('schema.json');
  const sentOnly = onlySent(definitions);
  const all = read('openrpc.json').methods;
  const requests = methods(all, 'request', 'client_to_server').map((m) => {
    const result = m.result?.schema?.$ref ? name(m.result.schema.$ref) : 'unknown';
    return `${doc(m.summary, '  ')}  '${m.name}': [params: ${name(m['x-params'].$ref)}, result: ${result}];\n`;
  });
  const notifications = methods(all, 'notification', 'server_to_client').map(
    (m) => `${doc(m.summary, '  ')}  '${m.name}': ${name(m['x-params'].$ref)};\n`,
  );
  return [
    '// Generated from protocol-schema by `npm run protocol`; do not edit.\n',
    `/** The version of the protocol that these types describe. */\nexport const PROTOCOL_VERSION = ${version};\n`,
    ...Object.entries(definitions).map((entry) => definition(entry, sentOnly)),
    labels(definitions),
    `/** What a client asks, and what it is answered. */\nexport interface Requests {\n${requests.join('')}}\n`,
    `/** What the sidecar tells. */\nexport interface Notifications {\n${notifications.join('')}}\n`,
  ].join('\n');
}

const text = generate();
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write('src/protocol.ts is not what the schema says: npm run protocol\n');
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
}
