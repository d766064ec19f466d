/** Frames of a language, the same ones each time: what an instruction shows. */
import type { Field, Narrowing, ValueType } from './narrowing.js';

/** Texts of values, as they stand in a frame. What is escaped comes first: that is what readers have to see. */
const SAMPLES: Readonly<Record<ValueType, readonly string[]>> = {
  any: ['m1', '42', 'https\\://a.io/x'],
  string: ['https\\://a.io/x', 'impl_auth', 'v1.2'],
  integer: ['3', '42'],
  decimal: ['2.5', '-0.1'],
  boolean: ['true', 'false'],
  null: ['~'],
  array: ['[a,2.5]', '[]'],
  map: ['{k:a,n:2}', '{}'],
  ref: ['$warm.ckpt_1', '$x'],
};

const AGENTS = ['planner', 'research'];
const INTENTS = ['req', 'done'];
const OPERATIONS = ['schedule', 'analyze'];
const METADATA = 'mid:m1,seq:1,ts:1714000000';

/** A frame with all that may stand in it, and a short one with the last of the words to choose from; one if they are the same. */
export function frameExamples(narrowing: Narrowing): readonly string[] {
  return [...new Set([example(narrowing, 0), example(narrowing, 1)])];
}

function example(
  { agents, intents, operations, payload, metadata, maxDepth, dialect }: Narrowing,
  variant: 0 | 1,
): string {
  const word = (words: readonly string[] | null, free: readonly string[]): string => ends(words ?? free, variant);
  const head = `@${word(agents, AGENTS)}>${word(intents, INTENTS)}:${word(operations, OPERATIONS)}`;
  const body = payload === null ? freePayload(variant, maxDepth, dialect) : params(payload, variant).join('|');
  const pairs = metadata.fields === null ? METADATA : params(metadata.fields, variant).join(',');
  const isThere = metadata.use === 'required' || (metadata.use === 'optional' && variant === 0);
  return `${head}{${body}}${isThere ? `[${pairs}]` : ''}`;
}

function freePayload(variant: 0 | 1, maxDepth: number, dialect: Narrowing['dialect']): string {
  if (variant === 1) return `who:${dialect === 'lenient' ? '@dev:plan' : '\\@dev'}|ok:true|src:$warm.ckpt_1|note:~`;
  const list = ['', '|tags:[a,2.5]'][maxDepth] ?? '|tags:[a,{n:2.5}]';
  return `task:impl_auth|at:12\\:30${list}`;
}

function params(fields: readonly Field[], variant: 0 | 1): readonly string[] {
  const shown = variant === 0 ? fields : fields.filter(({ optional }) => !optional);
  return shown.map(({ key, types, spellings }, index) => {
    if (spellings !== null) return `${key}:${ends(spellings, variant)}`;
    const samples = SAMPLES[ends(types, variant)];
    return `${key}:${samples[(index + variant) % samples.length]!}`;
  });
}

/** The first, or the last. */
function ends<T>(list: readonly T[], variant: 0 | 1): T {
  return variant === 0 ? list[0]! : list.at(-1)!;
}
