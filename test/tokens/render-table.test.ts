/** The token counts of the text for models, and the figures in the documents. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type RenderCounts, renderRows, renderTable } from '../../bench/render-table.js';
import { CONTEXT_RULE } from '../../src/accp/render/index.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';

describe.each(['o200k_base', 'cl100k_base'] as const)('in %s', async (encoding) => {
  const { kinds, conversations, json } = await renderRows(encoding);

  test('no kind of message, conversation or result has more tokens than compact JSON or TOON', () => {
    for (const [name, { json: compact, toon, fenced }] of [...kinds, ...conversations, ...json]) {
      expect(fenced, name).toBeLessThan(compact);
      expect(fenced, name).toBeLessThan(toon);
    }
  });

  test('conversations are at least 30 % shorter than compact JSON, fences included', () => {
    expect(saved(conversations.at(-1)![1])).toBeGreaterThanOrEqual(30);
  });
});

function saved({ json, fenced }: RenderCounts): number {
  return Math.round(100 * (1 - fenced / json));
}

test('the documents have the figures of the table', async () => {
  const { kinds, conversations, json } = await renderRows('o200k_base');
  const [single, together, results] = [kinds, conversations, json].map((rows) => saved(rows.at(-1)![1]));
  const text = (file: string): string =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  expect(text('README.md')).toContain(`conversations for a model with ${together} % fewer tokens than compact JSON`);
  expect(text('README.md')).toContain(`the results of tools with ${results} % fewer`);
  const guide = text('src/accp/render/README.md');
  expect(guide).toContain(
    `Conversations take ${together} % fewer tokens than compact JSON, results of tools ${results} %`,
  );
  expect(guide).toContain(`a single message in a fence of its own ${single} %`);
  expect(text('test/examples/choose-a-format/README.md')).toContain(
    `${results} to ${together} % less than compact JSON`,
  );
  expect(await renderTable()).toContain(`${(await loadTokenCounter()).count(CONTEXT_RULE)} tokens, once per context`);
});
