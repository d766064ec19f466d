/**
 * pegwire's own parsers as an adapter: `pegwire-adapter.ts accp|aacp [FAULT]`. A fault is planted in the answers to
 * texts that contain the word after it, or to all.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { toJson } from '../../../../src/cli/io/json.js';
import { READERS } from '../../../../src/cli/io/messages.js';

const [, , name, fault = 'none', word = ''] = process.argv;
const reader = READERS[name as keyof typeof READERS];

interface AnswerJson {
  ok: boolean;
  ast?: unknown;
  canonical?: string;
  code?: string;
  offset?: number;
}

function answerOf(input: string, dialect: string): AnswerJson {
  const result = reader.parse(input, { dialect, spans: true });
  if (!result.ok) {
    const { code, span } = result.error;
    return { ok: false, code, ...(span === null ? {} : { offset: span.start }) };
  }
  return { ok: true, ast: result.value, canonical: reader.format(result.value, { dialect }) };
}

const FAULTS: Readonly<Record<string, (answer: AnswerJson) => AnswerJson>> = {
  none: (answer) => answer,
  'verdict-only': ({ ok }) => ({ ok }),
  accepts: () => ({ ok: true }),
  refuses: () => ({ ok: false, offset: 3 }),
  'wrong-code': (answer) => (answer.ok ? answer : { ...answer, code: 'E9' }),
  'wrong-offset': (answer) => (answer.ok ? answer : { ...answer, offset: (answer.offset ?? 0) + 1 }),
  'wrong-canonical': (answer) => (answer.ok ? { ...answer, canonical: `${answer.canonical}!` } : answer),
  'wrong-tree': (answer) => (answer.ok ? { ...answer, ast: { ...(answer.ast as object), payload: [] } } : answer),
  crashes: () => process.exit(9),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { input, dialect = 'strict' } = JSON.parse(line) as { input: string; dialect?: string };
  const answer = answerOf(input, dialect);
  // The first two requests, for an empty text, must not fail: the adapter would not start.
  const faulty = input !== '' && input.includes(word);
  process.stdout.write(`${toJson(faulty ? FAULTS[fault]!(answer) : answer)}\n`);
});
