/** The messages that the tables of compact frames are measured on: rounds of sessions, with other contents in each. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, JsonObject, Message } from '../../src/accp/codec/index.js';
import type { Half } from '../../src/bench/corpus/texts.js';
import { createRandom, type Random } from '../../src/text/random.js';
import { type AgentMessage, agentMessages, shuffled } from '../corpus/agent-messages.js';
import { projectRoot } from '../root.js';

interface CorpusEntry {
  readonly id: string;
  readonly kind: string;
  readonly message: Message;
}

/** Returns the messages of `messages.json`; in later rounds with other numbers, identifiers, dates and prose. */
export function corpusRound(round: number): AgentMessage[] {
  const file = path.join(projectRoot(), 'bench/corpus/messages.json');
  const entries = JSON.parse(readFileSync(file, 'utf8')) as CorpusEntry[];
  const contents = otherContents(createRandom(61 + round));
  const requests = new Map<string, number>();
  const positions = new Map<string, number>();
  const chunks = entries.filter(({ message }) => message.schema === 'ST').length;
  let chunk = 0;
  return entries.map(({ id, kind, message }) => {
    const { agent, intent, operation, schema, envelope } = message;
    const conversation = id[0]!;
    const position = positions.get(conversation) ?? 0;
    positions.set(conversation, position + 1);
    if (intent === 'req' || intent === 'qry') requests.set(envelope.msg_id, position);
    const { correlation_id: cid } = envelope;
    // The result of a tool answers a request, which the corpus may lack.
    const isResult = schema === 'TC' && intent === 'done';
    const answers = cid === undefined ? (isResult ? id : undefined) : (requests.get(cid) ?? cid);
    const renewed = round === 1 ? message.payload : (contents(message.payload) as JsonObject);
    // The corpus lacks a chunk.
    const numbers = { chunk_index: chunk, total_chunks: chunks, is_final: chunk + 1 === chunks };
    if (schema === 'ST') chunk++;
    return {
      ...{ id, kind: kind.replaceAll('_', ' '), agent, intent, operation },
      ...(schema === undefined ? {} : { schema }),
      payload: schema === 'ST' ? { ...renewed, ...numbers } : renewed,
      ...(answers === undefined ? {} : { answers }),
    };
  });
}

export function generatedRound(round: number, half: Half = 'unseen'): AgentMessage[] {
  return agentMessages(half, round);
}

/**
 * Returns a function that returns a value with the same keys and names, but other digits, last parts of paths, and order of words. Equal strings
 * stay equal.
 */
function otherContents(random: Random): (value: Json) => Json {
  const texts = new Map<string, string>();
  const change = (value: Json): Json => {
    if (typeof value === 'number') return otherNumber(value, random);
    if (typeof value === 'string') {
      const text = texts.get(value) ?? otherText(value, random);
      texts.set(value, text);
      return text;
    }
    if (Array.isArray(value)) return value.map((item) => change(item as Json));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
  };
  return change;
}

function otherNumber(value: number, random: Random): number {
  const text = String(value);
  return Number(text.replace(/[1-9]/g, () => String(random.integer(1, 9))));
}

const STEMS = ['renewal', 'layout', 'pricing', 'uploads', 'profile', 'routing', 'archive', 'quota', 'invites'];

function otherText(text: string, random: Random): string {
  // Codes, such as E2001 and sev2.
  if (/^\w{1,5}$/.test(text)) return text;
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    return text
      .replace(/-\d\d-\d\d/, `-0${random.integer(1, 9)}-${random.integer(10, 28)}`)
      .replace(/:\d\d/g, () => `:${random.integer(10, 59)}`);
  }
  const words = text.split(' ');
  if (words.length > 2)
    return shuffled(
      random,
      text.replace(/\d/g, () => String(random.integer(1, 9))),
    );
  if (words.length === 1 && text.includes('/')) return text.replace(/[a-z]+(?=[^/]*$)/, () => random.pick(STEMS));
  return text.replace(/\d/g, () => String(random.integer(1, 9)));
}
