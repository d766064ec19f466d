/** Messages of every type, of typical length. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnvelope } from '../../src/arcp/index.js';
import type { Runner } from '../../src/bench/race.js';
import { projectRoot } from '../root.js';

export const JSON_PARSE = 'JSON.parse';
export const PARSE = 'pegwire parseEnvelope';

interface Case {
  readonly id: string;
  readonly full: unknown;
}

/** Returns one text for each of the 38 types, with all members of the type. */
export function messageTexts(): string[] {
  const file = path.join(projectRoot(), 'test/conformance/arcp/messages.json');
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly Case[] };
  return cases.map(({ id, full }, at) =>
    JSON.stringify({
      ...{ arcp: '1.0', id: `msg_01JABCDEFGHJKMNPQRSTVWXY${at}`, type: id, timestamp: '2026-05-07T21:30:00.123Z' },
      ...{ source: 'runtime', session_id: 'sess_01JABCDEFGHJKMNPQRSTVWXYZ0', job_id: 'job_01JABCDEFGHJKMNPQRSTVWXYZ0' },
      ...{ stream_id: 'str_01JABCDEFGHJKMNPQRSTVWXYZ0', trace_id: 'c'.repeat(32), span_id: 'd'.repeat(16) },
      ...{ correlation_id: 'msg_01JABCDEFGHJKMNPQRSTVWXYZ0', payload: full },
    }),
  );
}

export function messageRunners(texts: readonly string[]): Runner[] {
  const over = (read: (text: string) => unknown) => (): unknown => {
    let last: unknown;
    for (const text of texts) last = read(text);
    return last;
  };
  return [
    { name: JSON_PARSE, pass: over(JSON.parse) },
    { name: PARSE, pass: over((text) => parseEnvelope(text)) },
  ];
}
