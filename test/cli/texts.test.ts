/** The style of help pages, the page of error codes, and the output that the README shows. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.js';
import { GLOBAL_OPTIONS } from '../../src/cli/options/command.js';

const ENTRIES = COMMANDS.flatMap((one) =>
  'commands' in one ? one.commands.map((inner) => ({ ...inner, name: `${one.name} ${inner.name}` })) : [one],
);

/** Begins with a capital or a lower-case value such as `split`, and has no final period. */
const DESCRIPTION = /^(?:[A-Z]|split |sdk: ).*[^.]$/s;

test.each([...COMMANDS, ...ENTRIES])('the summary of $name is imperative, on one line', ({ name, summary }) => {
  expect(summary).toMatch(/^[A-Z][a-z]+,? .*[^.]$/);
  expect(`  ${name.split(' ').at(-1)!.padEnd(11)}  ${summary}`.length).toBeLessThanOrEqual(100);
});

describe.each(ENTRIES)('the options of $name', ({ load }) => {
  test('have texts in one style', async () => {
    const { command } = await load();
    for (const { description } of Object.values({ ...command.options, ...GLOBAL_OPTIONS }))
      expect(description).toMatch(DESCRIPTION);
  });

  test('name durations DURATION and times TIME', async () => {
    const { command } = await load();
    for (const [name, { placeholder }] of Object.entries(command.options)) {
      if (/^(?:timeout|grace|lease|older-than|duration)$/.test(name)) expect(placeholder).toBe('DURATION');
      if (name === 'now') expect(placeholder).toBe('TIME');
      expect(placeholder).not.toMatch(/SECONDS|DAYS/);
    }
  });
});

test('every error code of the command line has a section', () => {
  const source = readFileSync('src/cli/io/errors.ts', 'utf8');
  const codes = [...source.matchAll(/^ {2}\| '([a-z-]+)'/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThanOrEqual(8);
  const page = readFileSync('src/cli/ERRORS.md', 'utf8');
  for (const code of codes) expect(page).toContain(`\n### ${code}\n`);
});
