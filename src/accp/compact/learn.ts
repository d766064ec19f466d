/** Registries whose entries are learned from a sample of messages. */
import { memoize } from '../../text/memoize.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { Frame, Value } from '../ast.js';
import { keyTable } from '../message/abbreviations.js';
import { isFrame } from '../message/is-frame.js';
import { nullObject, type SchemaDefinition } from '../message/json.js';
import type { MessageInput } from '../message/message.js';
import { isMarkedKey } from '../message/transliterate.js';
import { printFrame } from '../print.js';
import { isCode, MAX_SHAPES, MAX_STRINGS, whyNotWord } from '../registry/definition.js';
import {
  COMMON_REGISTRY,
  createRegistry,
  exportRegistry,
  isProfileSchema,
  type Registry,
  type RegistryJson,
  type ShapeDefinition,
} from '../registry/registry.js';
import { chooseShapes } from './choose-shapes.js';
import { Compactor, payloadShape, SpellingCosts } from './compact.js';
import { frameOf } from './frame-of.js';
import { type Costs, type Occurrence, occurrencesIn, TextUses } from './occurrences.js';
import { numberIn } from './spelling.js';
import { staticEntries } from './static.js';
import { CompactTables, numbered, type Shape, shapeKey } from './tables.js';

/** Options of {@link learnRegistry}. */
export interface LearnOptions {
  /** The registry to extend; the result has its schemas and operations, and new compact entries. @default the schemas of the profiles */
  readonly registry?: Registry | undefined;
  /** The counter of tokens, such as `await loadTokenCounter('o200k_base')`. @default an estimate */
  readonly counter?: TokenCounter | undefined;
}

/**
 * Makes a registry of the message types in a sample: the shapes of payloads, maps and tables, the strings and the agents that compact frames
 * refer to by number, and the schemas that the sample names and the registry lacks. An entry is included only if it saves tokens in the
 * sample. A string must occur in at least two messages and read as a name: text that looks like a secret or an identifier is not included.
 *
 * Equal samples give equal registries.
 *
 * @param sample messages, or plain frames
 * @throws AccpError E1004 with the path for anything but messages and frames, and if a message cannot be written as a frame
 * @throws PrintError if a frame cannot be printed
 * @throws TypeError if the sample is not iterable
 * @example
 * const registry = createRegistry(learnRegistry(messages, { counter: await loadTokenCounter('o200k_base') }));
 * const text = compactFrame(frame, { registry });
 */
export function learnRegistry(
  sample: Iterable<MessageInput | Frame>,
  { registry = COMMON_REGISTRY, counter = ESTIMATING_COUNTER }: LearnOptions = {},
): RegistryJson {
  if (typeof sample?.[Symbol.iterator] !== 'function')
    throw new TypeError('A sample must be an iterable of messages or frames');
  const frames = Array.from(sample, (one, index) => {
    return isFrame(one, `sample[${index}]`) ? { ...one, metadata: null } : frameOf(one, registry);
  });
  const plain = frames.map((frame) => printFrame(frame));
  const base = withSchemasOf(frames, registry);
  const fixed = staticEntries(createRegistry(base)).shapes.entries;
  const occurrences: Occurrence[] = [];
  const strings = new TextUses();
  const agents = new TextUses();
  for (const [index, frame] of frames.entries()) {
    occurrences.push(...occurrencesIn(frame));
    strings.addAll(frame, index);
    agents.add(frame.agent, index);
  }
  const costs = costsIn(frames.length, counter);
  const { tokens } = costs;
  const entries = {
    shapes: chooseShapes(occurrences, fixed, costs),
    strings: strings
      .names(2, costs, (text, number) => tokens(`:${text}`) - tokens(`:$${number}`))
      .slice(0, MAX_STRINGS),
  };
  const { shapes, strings: names } = usedOf(entries, fixed, { frames, plain, counter });
  // The name of an agent that is a number would be read as an entry.
  const named = frames.some(({ agent }) => numberIn(agent) !== undefined)
    ? []
    : agents.names(1, costs, (name, number) => tokens(`@${name}>`) - tokens(`@${number}>`));
  const compact = {
    ...(shapes.length === 0 ? {} : { shapes: shapes.slice(0, MAX_SHAPES).map(definitionOf) }),
    ...(names.length === 0 ? {} : { strings: names }),
    ...(named.length === 0 ? {} : { agents: named.slice(0, MAX_SHAPES) }),
  };
  return Object.keys(compact).length === 0 ? base : { ...base, compact };
}

/** The number of messages after which a registry is sent again, to a peer that lacks it. */
const MESSAGES_PER_DELTA = 1000;
/** The maximum number of remembered counts. */
const MAX_COUNTS = 65_536;

function costsIn(messages: number, { count }: TokenCounter): Costs {
  const tokens = memoize(count, MAX_COUNTS);
  return { tokens, entryCost: (texts) => (tokens(JSON.stringify(texts)) * messages) / MESSAGES_PER_DELTA };
}

interface Entries {
  readonly shapes: readonly Shape[];
  readonly strings: readonly string[];
}

interface Sample {
  readonly frames: readonly Frame[];
  /** Their canonical texts. */
  readonly plain: readonly string[];
  readonly counter: TokenCounter;
}

/** Returns the entries that the compact frames of the sample use, those used most first. */
function usedOf(entries: Entries, fixed: readonly Shape[], { frames, plain, counter }: Sample) {
  const shapes = [...fixed, ...entries.shapes];
  const statics = { shapes: numbered(shapes, shapeKey), strings: numbered(entries.strings, (text) => text) };
  const compactor = new Compactor(new CompactTables(statics, false), new SpellingCosts(counter));
  const uses = { shapes: new Map<number, number>(), strings: new Map<number, number>() };
  for (const [index, frame] of frames.entries()) {
    const compacted = compactor.compact(frame, plain[index]!, undefined);
    if (compacted !== null) countNumbers(compacted.frame, uses);
  }
  const used = <T>(all: readonly T[], counts: ReadonlyMap<number, number>): readonly T[] =>
    [...all.entries()]
      .filter(([number]) => counts.has(number))
      .sort(([a], [b]) => counts.get(b)! - counts.get(a)! || a - b)
      .map(([, entry]) => entry);
  const isMap = ({ operation, schema }: Shape): boolean => operation === null && schema === null;
  const ranked = used(shapes, uses.shapes).filter((shape) => !fixed.includes(shape));
  return {
    // The numbers of maps are doubled.
    shapes: [...ranked.filter(isMap), ...ranked.filter((shape) => !isMap(shape))],
    strings: used(entries.strings, uses.strings),
  };
}

interface Uses {
  readonly shapes: Map<number, number>;
  readonly strings: Map<number, number>;
}

/** Counts the numbers of shapes and strings in a compact frame. */
function countNumbers({ operation, payload }: Frame, { shapes, strings }: Uses): void {
  const add = (uses: Map<number, number>, number: number): unknown => uses.set(number, (uses.get(number) ?? 0) + 1);
  const visit = (value: Value): void => {
    if (value.kind === 'array') value.items.forEach(visit);
    if (value.kind === 'ref' && numberIn(value.path) !== undefined) add(strings, Number(value.path));
    if (value.kind !== 'map') return;
    const number = value.entries.length === 1 ? numberIn(value.entries[0]!.key) : undefined;
    if (number !== undefined && number > 0) add(shapes, Math.ceil(number / 2) - 1);
    for (const { value: inner } of value.entries) visit(inner);
  };
  const bound = numberIn(operation);
  const named = numberIn(payload[0]?.key ?? '');
  if (bound !== undefined) add(shapes, bound);
  else if (named !== undefined) add(shapes, named - 1);
  for (const { value } of payload) visit(value);
}

function definitionOf({ operation, schema, keys }: Shape): ShapeDefinition {
  const isMap = operation === null && schema === null;
  const { expand } = keyTable(schema ?? undefined);
  return {
    ...(operation === null ? {} : { operation }),
    ...(schema === null ? {} : { schema }),
    fields: isMap ? keys : keys.map((key) => expand(key)),
  };
}

/** Returns the schemas and operations of a registry, and a definition for each other schema that frames name. */
function withSchemasOf(frames: readonly Frame[], registry: Registry): RegistryJson {
  const { version, schemas, operations } = exportRegistry(registry);
  const own = nullObject<SchemaDefinition>();
  for (const [name, definition] of Object.entries(schemas)) {
    if (!isProfileSchema(name, definition)) own[name] = definition;
  }
  const fields = new Map<string, Map<string, number>>();
  for (const { operation, payload } of frames) {
    const { schema, keys } = payloadShape(operation, payload);
    if (schema === null || registry.byCode(schema) !== undefined || !isCode(schema)) continue;
    const counts = fields.get(schema) ?? new Map<string, number>();
    for (const key of keys) {
      if (whyNotWord(key) === null && !isMarkedKey(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    fields.set(schema, counts);
  }
  for (const [code, counts] of fields) {
    const { expand } = keyTable(code);
    let name = code;
    while (Object.hasOwn(schemas, name) || name in own) name += '_';
    own[name] = { code, version: 1, fields: byCount(counts).map((key) => expand(key)) };
  }
  return {
    ...(version === undefined || version === 1 ? {} : { version }),
    schemas: own,
    ...(operations === undefined ? {} : { operations }),
  };
}

/** Returns the keys, the most frequent first. */
function byCount(counts: ReadonlyMap<string, number>): string[] {
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
}
