/** The message corpus as frames: typical messages between agents, not adapted to a parser. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Sample } from '../../src/bench/candidate.js';
import { frameSample } from '../../src/bench/corpus/accp.js';
import { projectRoot } from '../root.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

interface Message {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string;
  readonly payload: { readonly [key: string]: Json };
  readonly envelope: { readonly [key: string]: Json };
}

/** Names of the envelope's fields in a frame (draft-benzing-accp-00, Table 4). */
const ENVELOPE: Readonly<Record<string, string>> = {
  msg_id: 'mid',
  sequence: 'seq',
  timestamp: 'ts',
  correlation_id: 'cid',
  causation_id: 'aid',
  session_id: 'sid',
};

/** Returns each message as a frame, and as JSON with the same keys. */
export function messageSamples(): Sample[] {
  const file = path.join(projectRoot(), 'bench/corpus/messages.json');
  const messages = JSON.parse(readFileSync(file, 'utf8')) as { readonly message: Message }[];
  return messages.map(({ message }) => frameSample(frameText(message)));
}

function frameText({ agent, intent, operation, schema, payload, envelope }: Message): string {
  const params = Object.entries(schema === undefined ? payload : { ...payload, schema });
  const fields = Object.entries(envelope).map(([key, value]) => `${ENVELOPE[key] ?? key}:${valueText(value)}`);
  const body = params.map(([key, value]) => `${key}:${valueText(value)}`).join('|');
  return `@${agent}>${intent}:${operation}{${body}}[${fields.join(',')}]`;
}

/** Frames contain neither spaces nor characters beyond ASCII: an underscore replaces either, as in the draft's examples. */
function valueText(value: Json): string {
  if (value === null) return '~';
  if (typeof value === 'string') return value.replace(/[^!-~]+/g, '_').replace(/[@>:{}[\]|$,~\\]/g, '\\$&') || '_';
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(valueText).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${key}:${valueText(member)}`)
    .join(',')}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
