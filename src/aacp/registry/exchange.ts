/** Imports and exports registries in the format of the reference SDK: `unknown_patterns.json`. */

import type { Packet } from '../ast.js';
import { anchoredForm, relativeUnit } from '../matching/instruction/calendar.js';
import {
  instructionId,
  MAX_INSTRUCTION,
  normaliseInstruction,
  registryKey,
  wordsOf,
} from '../matching/instruction/normalise.js';
import { wordSet } from '../matching/instruction/words.js';
import { termsOf as encoderTermsOf } from '../matching/wording.js';
import { printPacket } from '../print.js';
import { validatePacket } from '../validate.js';
import { lowerAscii, VERSION } from '../vocabulary.js';
import { RegistryError } from './errors.js';
import type { NewEntry, Registry, RegistryEntry } from './registry.js';

/** Options of `exportPatterns`. */
export interface ExportOptions {
  /** Returns the number of tokens of a text. @default a quarter of the characters, as the reference SDK estimates */
  readonly countTokens?: ((text: string) => number) | undefined;
}

/**
 * Exports all entries of a registry, including expired ones, as JSON text in the format of the reference SDK. The format has no members for
 * models, prices and hits. The agent and the priority are in the packets.
 *
 * @throws StoreError if the registry cannot be read
 */
export function exportPatterns(registry: Registry, { countTokens = estimateTokens }: ExportOptions = {}): string {
  const patterns = Array.from(registry.entries(), (entry) => sdkPatternOf(entry, countTokens));
  return `${JSON.stringify(patterns, null, 2)}\n`;
}

/** Converts an entry. The names and their order are those of the reference SDK. */
function sdkPatternOf(entry: RegistryEntry, countTokens: (text: string) => number) {
  const { instruction, packet, domain, createdAt, covered, timesSeen } = entry;
  const normalised = normaliseInstruction(instruction);
  const english = countTokens(instruction);
  const tokens = countTokens(packet);
  return {
    id: instructionId(normalised),
    timestamp: new Date(createdAt).toISOString(),
    domain,
    english: instruction,
    english_normalised: normalised,
    keywords: keywordsOf(instruction),
    aacp_packet: packet,
    // The format cannot express that the loss is unknown.
    compression_loss: 'none',
    loss_note: 'not measured',
    token_estimate_english: english,
    token_estimate_packet: tokens,
    reduction_pct: english > 0 ? Math.round((1 - tokens / english) * 1000) / 10 : 0,
    rule_based_written: covered === true,
    times_seen: timesSeen,
  };
}

function estimateTokens(text: string): number {
  return Math.floor(text.length / 4);
}

/** Options of `importPatterns`. */
export interface ImportOptions {
  /** Returns the terms by which tier 2 finds an entry, the most specific first. @default those of the fallback encoder */
  readonly termsOf?: ((instruction: string) => readonly string[]) | undefined;
  /**
   * Returns the normal form of an instruction, with the dates to which its relative times refer.
   *
   * @param createdAt the time at which the instruction was first given, in milliseconds since 1970
   * @default that of the fallback encoder
   */
  readonly normalise?: ((instruction: string, createdAt: number) => string) | undefined;
  /** Returns milliseconds since 1970, for entries without a timestamp. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** An entry that was not imported. */
export interface SkippedPattern {
  /** The index of the entry in the file, from 0. */
  readonly index: number;
  /** The id in the file; `null` if it has none. */
  readonly id: string | null;
  /** The reason why the entry was not imported. */
  readonly reason: string;
}

/** The result of `importPatterns`. */
export interface ImportReport {
  /** The number of new entries. */
  readonly imported: number;
  /** The number of entries that existed already, in the registry or earlier in the file. Their packets are kept, with the larger count. */
  readonly merged: number;
  /** The number of imported packets that were changed: to this version of the protocol, or by removing white space. */
  readonly rewritten: number;
  /** The entries that were not imported. */
  readonly skipped: readonly SkippedPattern[];
}

/**
 * Imports a file of the reference SDK: those entries whose packet is valid and of the domain of the entry. The agent and the priority are
 * taken from the packet; everything that depends on the instruction is computed again.
 *
 * @param file the text of the file, or its JSON value
 * @throws RegistryError with code `bad-registry-file` if `file` is not JSON or not a list; StoreError if the registry fails
 * @example
 * const { imported, skipped } = importPatterns(registry, await readFile('registry/unknown_patterns.json', 'utf8'));
 */
export function importPatterns(registry: Registry, file: unknown, options: ImportOptions = {}): ImportReport {
  const skipped: SkippedPattern[] = [];
  const counts = { imported: 0, merged: 0, rewritten: 0 };
  const waiting = new Map<string, NewEntry>();
  patternsOf(file).forEach((given, index) => {
    const read = readPattern(given, options);
    if (typeof read === 'string') {
      skipped.push({ index, id: idOf(given), reason: read });
      return;
    }
    const { entry, isRewritten } = read;
    const before = waiting.get(entry.key) ?? registry.get(entry.key);
    counts[before === undefined ? 'imported' : 'merged']++;
    if (before === undefined && isRewritten) counts.rewritten++;
    const after = before === undefined ? entry : merged(before, entry);
    if (after !== before) waiting.set(entry.key, after);
    if (waiting.size >= BATCH) putWaiting();
  });
  putWaiting();
  return { ...counts, skipped };

  function putWaiting(): void {
    registry.putAll(waiting.values());
    waiting.clear();
  }
}

/** The number of entries that are put at once. */
const BATCH = 512;

function patternsOf(file: unknown): readonly unknown[] {
  let value = file;
  try {
    if (typeof file === 'string') value = JSON.parse(file.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw badFile(`it is not JSON: ${(cause as Error).message}`, cause);
  }
  if (Array.isArray(value)) return value;
  throw badFile('it is not a list of entries');
}

function badFile(reason: string, cause?: unknown): RegistryError {
  const message = `The file is not a registry of the reference SDK: ${reason}.`;
  return new RegistryError({ code: 'bad-registry-file', message }, { cause });
}

function idOf(given: unknown): string | null {
  const id = (given as { readonly id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? id : null;
}

/** Merges two entries: the earlier one, with the larger count, covered if either is. Returns `before` itself if nothing changes. */
function merged(before: NewEntry, { timesSeen = 1, covered }: NewEntry): NewEntry {
  const most = before.timesSeen ?? 1;
  if (timesSeen <= most && (covered !== true || before.covered === true)) return before;
  return { ...before, timesSeen: Math.max(timesSeen, most), covered: covered === true || before.covered };
}

/** Returns an entry, or the reason to skip it. */
function readPattern(given: unknown, options: ImportOptions) {
  const data = patternOf(given);
  if (typeof data === 'string') return data;
  const text = packetOf(data.aacp_packet, data.domain);
  if (typeof text !== 'string') return text.reason;
  const packet = validatePacket(text).packet!;
  const { termsOf = encoderTermsOf, normalise = normalFormAt, now = Date.now } = options;
  const instruction = data.english;
  const plain = normaliseInstruction(instruction);
  if (plain === '') return 'Its instruction is empty.';
  if (instruction.length > MAX_INSTRUCTION)
    return `Its instruction is longer than ${MAX_INSTRUCTION} characters, which encode() does not accept.`;
  const createdAt = timeOf(data.timestamp, now());
  const request = {
    normalised: normalise(instruction, createdAt),
    domain: packet.domain,
    returnAgent: fieldOf(packet, 'return')!,
    priority: fieldOf(packet, 'p') ?? '2',
    version: VERSION,
  };
  const entry: NewEntry = {
    ...request,
    ...{ instruction, packet: text, createdAt },
    key: registryKey(request),
    id: instructionId(plain),
    origin: 'import',
    model: null,
    cost: null,
    terms: termsOf(instruction),
    timesSeen: Math.min(data.times_seen, Number.MAX_SAFE_INTEGER),
    // A member that is missing in the file does not reset the entry.
    covered: data.rule_based_written || undefined,
  };
  return { entry, isRewritten: text !== data.aacp_packet };
}

/** The default of `ImportOptions.normalise`. */
function normalFormAt(instruction: string, createdAt: number): string {
  return anchoredForm(normaliseInstruction(instruction), relativeUnit(instruction), createdAt);
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the members of an entry that are used, or the reason why it is invalid. */
function patternOf(given: unknown) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'It is not an entry.';
  const { domain, english, aacp_packet, timestamp, times_seen, rule_based_written } = given as JsonObject;
  if (typeof domain !== 'string') return 'Its domain is missing or not a string.';
  if (typeof english !== 'string') return 'Its english is missing or not a string.';
  if (typeof aacp_packet !== 'string') return 'Its aacp_packet is missing or not a string.';
  return {
    domain,
    english,
    aacp_packet,
    timestamp: typeof timestamp === 'string' ? timestamp : '',
    times_seen: Number.isSafeInteger(times_seen) && Number(times_seen) >= 1 ? Number(times_seen) : 1,
    rule_based_written: rule_based_written === true,
  };
}

/** Returns the packet as this version writes it, or the reason why it is invalid. */
function packetOf(text: string, domain: string): string | { readonly reason: string } {
  const { packet, errors } = validatePacket(text);
  if (packet === null || errors.length > 0) return { reason: `Its packet is not valid: ${errors[0]?.message}` };
  if (packet.domain !== domain.toUpperCase()) {
    const named = JSON.stringify(domain.slice(0, 40));
    return { reason: `Its packet has the domain ${packet.domain}, but the entry has ${named}.` };
  }
  const fields = packet.fields.map(({ key, value }) => ({ key: lowerAscii(key), value }));
  const current = fields.map(({ key, value }) => ({ key, value: key === 'aacp' ? VERSION : value }));
  try {
    const written = printPacket({ ...packet, fields: current });
    const [problem] = validatePacket(written).errors;
    return problem === undefined ? written : { reason: `Its packet is not valid: ${problem.message}` };
  } catch (thrown) {
    return { reason: `Its packet cannot be written: ${(thrown as Error).message}` };
  }
}

function fieldOf({ fields }: Packet, key: string): string | undefined {
  return fields.find((field) => field.key === key)?.value;
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/;

/** Returns the creation time of an entry, which is not later than now. A time without a zone is in UTC. */
function timeOf(timestamp: string, now: number): number {
  const match = TIMESTAMP.exec(timestamp);
  const time = match === null ? Number.NaN : Date.parse(match[1] === undefined ? `${timestamp}Z` : timestamp);
  return Math.floor(time >= 0 && time <= now ? time : now);
}

/** Words that are not keywords. */
const STOP_WORDS = wordSet(`
  a about all also an and are at be been being both but by could did do does each every few for from had has
  have i in into is it its just like may me might more most my need of on or other our please should some than
  that the then this through to up want was we were will with would you your
`);

const PUNCTUATION = `.,;:!?"'()[]`;

/** The minimum number of characters of a keyword. */
const MIN_LENGTH = 4;

/** Returns the keywords of an instruction, in its order, without duplicates. */
export function keywordsOf(instruction: string): readonly string[] {
  const words = wordsOf(instruction).map(bare);
  return [...new Set(words.filter((word) => !STOP_WORDS.has(word) && isLong(word)))];
}

function bare(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && PUNCTUATION.includes(word[start]!)) start++;
  while (end > start && PUNCTUATION.includes(word[end - 1]!)) end--;
  return word.slice(start, end);
}

/** Counts characters, as the reference SDK does, not UTF-16 code units. */
function isLong(word: string): boolean {
  return word.length >= MIN_LENGTH && (word.length >= 2 * MIN_LENGTH || [...word].length >= MIN_LENGTH);
}
