/** Random pieces of ACCP text. */
import type { Random } from '../../text/random.js';

export const AGENTS = ['planner', 'dev_team', 'research', 'orchestrator', 'ci-agent', 'payments', 'tool_agent', 'bot7'];
export const INTENTS = ['req', 'done', 'fail', 'wait', 'esc', 'comp', 'sync', 'qry', 'ack', 'cancel', 'stream', 'end'];
export const OPERATIONS = ['schedule', 'analyze', 'tool', 'state', 'lookup', 'review', 'infer', 'transaction', 'chat'];

/** The draft's abbreviations, and keys of its examples. */
export const KEYS = [
  ...['d', 'f', 'nx', 'src', 'dst', 'q', 'fmt', 'pri', 'err', 'v', 'ctx', 'who', 'when', 'why'],
  ...['task', 'tool', 'args', 'res', 'stat', 'txn', 'amt', 'acc', 'idx', 'tot', 'done', 'asgn', 'dead', 'prog'],
  ...['status', 'confidence', 'tags', 'files', 'line', 'rule', 'note', 'owner', 'branch', 'passed', 'failed'],
  ...['max_results', 'duration_ms', 'tool_name', 'schema', 'depends_on', 'reviewer', 'budget', 'phase', 'version'],
];

const WORDS = [
  ...['token', 'rotation', 'session', 'error', 'retry', 'login', 'build', 'deploy', 'report', 'region', 'north'],
  ...['sales', 'quarter', 'summary', 'review', 'merge', 'cache', 'index', 'queue', 'worker', 'timeout', 'limit'],
  ...['high', 'low', 'medium', 'accepted', 'blocked', 'pending', 'approved', 'final', 'draft', 'revoked', 'stale'],
];

export function words(random: Random, min: number, max: number): string {
  return Array.from({ length: random.integer(min, max) }, () => random.pick(WORDS)).join('_');
}

export function hex(random: Random, length: number): string {
  return Array.from({ length }, () => random.integer(0, 15).toString(16)).join('');
}

/** Twelve hex digits with at least one letter, as pegwire generates them. */
export function messageId(random: Random): string {
  return `${hex(random, 6)}e${hex(random, 5)}`;
}

export function string(random: Random): string {
  switch (random.integer(0, 7)) {
    case 0:
      return `src/${words(random, 1, 1)}/${words(random, 1, 2)}.ts`;
    case 1:
      return `2026-0${random.integer(1, 9)}-${random.integer(10, 28)}`;
    case 2:
      return hex(random, 7).replace(/^\d*$/, 'abcdef0');
    case 3:
      return words(random, 3, 8);
    case 4:
      return `v${random.integer(0, 9)}.${random.integer(0, 30)}.${random.integer(0, 9)}`;
    default:
      return words(random, 1, 2);
  }
}

export function integer(random: Random): string {
  const digits = random.pick([1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 13]);
  return `${random.next() < 0.1 ? '-' : ''}${natural(random, digits)}`;
}

export function natural(random: Random, digits: number): string {
  return random.integer(digits === 1 ? 0 : 10 ** (digits - 1), 10 ** digits - 1).toString();
}

/** A canonical decimal: up to six places, without a trailing zero. */
export function decimal(random: Random): string {
  const places = random.pick([1, 1, 2, 2, 2, 3, 4, 6]);
  const fraction = Array.from({ length: places - 1 }, () => random.integer(0, 9)).join('') + random.integer(1, 9);
  return `${random.next() < 0.1 ? '-' : ''}${natural(random, random.pick([1, 1, 2, 3, 4]))}.${fraction}`;
}

/** An integer beyond those that a double keeps exactly. */
export function bigInteger(random: Random): string {
  return `${random.next() < 0.1 ? '-' : ''}${random.integer(1, 9)}${digits(random, random.integer(16, 40))}`;
}

/** A number that is not canonical: leading zeros, redundant or too many places, more digits than a double keeps. */
export function otherNumber(random: Random): string {
  switch (random.integer(0, 4)) {
    case 0:
      return `00${natural(random, random.integer(1, 5))}`;
    case 1:
      return `${natural(random, random.integer(1, 4))}.${digits(random, random.integer(1, 4))}0`;
    case 2:
      return `${natural(random, 1)}.${digits(random, random.integer(7, 18))}`;
    case 3:
      return `${natural(random, 13)}.${digits(random, random.integer(3, 6))}`;
    default:
      return `-0${natural(random, 2)}.${random.integer(1, 9)}`;
  }
}

function digits(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.integer(0, 9)).join('');
}

export function literal(random: Random): string {
  return random.pick(['true', 'false', '~']);
}

export function reference(random: Random): string {
  return `$${random.pick(['hot', 'warm', 'cold'])}.${words(random, 1, 2)}`;
}

export function mention(random: Random): string {
  return random.next() < 0.5
    ? `\\@${random.pick(AGENTS)}\\:${words(random, 1, 1)}`
    : `${words(random, 1, 2)}\\:${words(random, 1, 3)}`;
}

/** A text in which about every third character is an escaped delimiter. */
export function escaped(random: Random): string {
  const delimiters = [...'@>:{}[]|$,~\\'];
  return Array.from(
    { length: random.integer(3, 14) },
    () => `${random.pick(WORDS).slice(0, random.integer(0, 4))}\\${random.pick(delimiters)}`,
  ).join('');
}

/** A value with the proportions of the message corpus (bench/corpus/README.md), and references. */
export function scalar(random: Random): string {
  const draw = random.next();
  if (draw < 0.54) return string(random);
  if (draw < 0.58) return mention(random);
  if (draw < 0.84) return integer(random);
  if (draw < 0.91) return decimal(random);
  if (draw < 0.96) return literal(random);
  return reference(random);
}

export function array(random: Random, length: number, item: (random: Random) => string): string {
  return `[${Array.from({ length }, () => item(random)).join(',')}]`;
}

export function params(random: Random, length: number, value: (random: Random) => string): string[] {
  return random.sample(KEYS, length).map((key) => `${key}:${value(random)}`);
}

export function map(random: Random, length: number, value: (random: Random) => string): string {
  return `{${params(random, length, value).join(',')}}`;
}

export function nested(random: Random, levels: number): string {
  const draw = random.next();
  if (levels === 0 || draw < 0.8) return scalar(random);
  if (draw < 0.9) return array(random, random.integer(0, 6), (inner) => nested(inner, levels - 1));
  return map(random, random.integer(0, 5), (inner) => nested(inner, levels - 1));
}

/** The envelope of Table 4: mid and seq, and optional fields. */
export function envelope(random: Random, probability: number): string {
  const others = [
    `ts:${natural(random, 10)}`,
    `cid:${messageId(random)}`,
    `aid:${messageId(random)}`,
    `sid:${words(random, 1, 2)}`,
    `ttl:${random.integer(0, 3600)}`,
  ].filter(() => random.next() < probability);
  return `[${[`mid:${messageId(random)}`, `seq:${random.integer(1, 400)}`, ...others].join(',')}]`;
}
