import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { configFiles } from '../../src/model/configFiles';
import { placeholders } from '../../src/model/placeholders';

interface Rule {
  name?: string;
  match?: string;
  begin?: string;
  end?: string;
  include?: string;
  patterns?: Rule[];
}

const grammar = JSON.parse(readFileSync('language/toml.tmLanguage.json', 'utf8')) as Rule & {
  repository: Record<string, Rule>;
};

function rulesOf(rule: Rule): Rule[] {
  return [rule, ...(rule.patterns ?? []).flatMap(rulesOf)];
}

const rules = [grammar, ...Object.values(grammar.repository)].flatMap(rulesOf);

/** The first value of a line, by the rule that matches there. */
function valueOf(text: string): string | undefined {
  const { begin = '' } = grammar.repository['entry'] ?? {};
  const rest = text.replace(new RegExp(begin), '');
  const named = [...(grammar.repository['value']?.patterns ?? [])].map(
    (rule) => (rule.include ? grammar.repository[rule.include.slice(1)] : rule) ?? {},
  );
  return named.find(({ match, begin: start }) => rest.search(new RegExp(match ?? start ?? '$^')) === 0)?.name;
}

describe('the grammar for TOML', () => {
  test('has valid expressions, and every rule that it includes', () => {
    for (const { match, begin, end, include } of rules) {
      for (const expression of [match, begin, end]) if (expression) assert.ok(new RegExp(expression));
      if (include) assert.ok(include.slice(1) in grammar.repository, include);
    }
  });

  test('tells values apart', () => {
    const lines = [
      'a = "x"',
      "a.b = 'x'",
      '"a b" = """x',
      'a = true',
      'a = -1_000',
      'a = 2026-01-02',
      'a = 0.5e3',
    ];
    assert.deepEqual(lines.map(valueOf), [
      'string.quoted.double.toml',
      'string.quoted.single.toml',
      'string.quoted.triple.double.toml',
      'constant.language.boolean.toml',
      'constant.numeric.toml',
      'constant.other.date.toml',
      'constant.numeric.toml',
    ]);
  });
});

describe('the placeholders of a prompt', () => {
  test('are names in braces; other braces are text', () => {
    const text = 'Read {scratchFile}.\n{"packet": {packet}} {} { a } {scratch_file}';
    const found = placeholders(text).map(({ line, start, length }) =>
      text.split('\n')[line]?.slice(start, start + length),
    );
    assert.deepEqual(found, ['{scratchFile}', '{packet}', '{scratch_file}']);
  });
});

describe('the configuration files', () => {
  test('include one that is not in force because of its problems', () => {
    const problem = { code: 'invalid-value', message: 'not a mode', severity: 'error' } as const;
    const problems = [{ ...problem, file: '/home/me/.rawr/rawr.toml' }, problem];
    const layers = ['/w/.rawr.toml', 'built-in'];
    assert.deepEqual(configFiles({ layers, problems }), ['/w/.rawr.toml', '/home/me/.rawr/rawr.toml']);
    assert.deepEqual(configFiles({ layers: ['built-in'], problems: [] }), []);
  });
});
