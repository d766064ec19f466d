import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/accp/errors.js';

it('describes every code that only the language server reports', () => {
  const sources = readdirSync('src/language-server', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const texts = sources.map((name) => readFileSync(path.join('src/language-server', name), 'utf8'));
  const codes = texts.flatMap((text) =>
    [...text.matchAll(/\bcode: (?:[^',;]*\? )?'([\w-]+)'(?: : '([\w-]+)')?/g)].flatMap(([, a, b]) => [
      a!,
      ...(b === undefined ? [] : [b]),
    ]),
  );
  const own = new Set(codes.filter((code) => !Object.hasOwn(ERROR_CODES, code)));
  const described = [...readFileSync('src/language-server/ERRORS.md', 'utf8').matchAll(/^### (.*)$/gm)].map(
    ([, code]) => code,
  );
  expect([...own].sort()).toEqual(described.sort());
});
