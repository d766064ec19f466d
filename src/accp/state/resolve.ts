/** Resolution of references (draft-benzing-accp-00, sections 3.1, 5.1 and 7.3, step 2). */
import { byteLength } from '../../text/bytes.js';
import { AccpError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject, Reference } from '../message/json.js';
import type { ColdTier } from './cold.js';
import type { HotTier } from './hot.js';
import { isShareable, type Lookup, type Tier } from './tier.js';
import type { WarmTier } from './warm.js';

export interface Tiers {
  readonly hot: HotTier;
  readonly warm: WarmTier;
  readonly cold: ColdTier;
}

/** The maximum length of a chain of references; longer ones are treated as circular. */
const MAX_HOPS = 8;

const INDEX = /^(0|[1-9][0-9]{0,8})$/;

/**
 * Resolves a path. Throws AccpError `E2001` if it is unknown, `E2002` if it has expired, `E5002` if it is in the cold state of
 * another session without a grant.
 */
export function resolvePath(path: string, tiers: Tiers): Json {
  return follow(path, path, (key, tier) => find(key, tier, tiers), MAX_HOPS);
}

/** The limits on the references of one frame (draft-benzing-accp-00, section 9, item 5); `Infinity` disables a limit. */
export interface ReferenceLimits {
  /** The maximum number of bytes of the values, as JSON in UTF-8, counted for each reference. @default 4194304 */
  readonly maxBytes: number;
  /** The maximum number of references. @default 1024 */
  readonly maxCount: number;
}

const REFERENCE_LIMITS: ReferenceLimits = { maxBytes: 4 * 1024 * 1024, maxCount: 1024 };

/** Fills in the defaults. Throws TypeError if a limit is not a non-negative number. */
export function resolveReferenceLimits(limits: Partial<ReferenceLimits> = {}): ReferenceLimits {
  const resolved = { ...REFERENCE_LIMITS, ...limits };
  for (const name of ['maxBytes', 'maxCount'] as const) {
    if (resolved[name] >= 0) continue;
    throw new TypeError(`references.${name} must be a non-negative number, or Infinity; got ${resolved[name]}`);
  }
  return resolved;
}

/**
 * Returns a function that resolves references. It reads and freezes each value once, so that time and memory depend on stored data
 * only.
 */
export function createResolver(tiers: Tiers, { maxBytes, maxCount }: ReferenceLimits): (path: string) => Json {
  const found = new Map<string, Lookup>();
  const known = new Map<string, { readonly value: Json; readonly bytes: number }>();
  let count = 0;
  let read = 0;
  let named = 0;

  // Entries count, too: reading a small part of a large value costs as much as reading all of it.
  const lookUp: LookUp = (key, tier) => {
    const id = `${tier ?? ''}.${key}`;
    if (found.has(id)) return found.get(id);
    const result = find(key, tier, tiers);
    found.set(id, result);
    if (typeof result === 'object') read = charge(read, freezeAndMeasure(result.value, maxBytes), maxBytes);
    return result;
  };

  return (path) => {
    count++;
    if (count > maxCount) throw overLimit('reference-count', `the frame has more than ${maxCount} references`);
    let resolved = known.get(path);
    if (resolved === undefined) {
      const value = follow(path, path, lookUp, MAX_HOPS);
      resolved = { value, bytes: freezeAndMeasure(value, maxBytes) };
      known.set(path, resolved);
    }
    named = charge(named, resolved.bytes, maxBytes);
    return resolved.value;
  };
}

/** Returns a function that resolves references within the default limits, and returns those without a value unchanged. */
export function createLookUp(tiers: Tiers): (reference: Reference) => Json {
  const resolve = createResolver(tiers, REFERENCE_LIMITS);
  return (reference) => {
    try {
      return resolve(reference.path);
    } catch (thrown) {
      if (thrown instanceof AccpError) return reference;
      throw thrown;
    }
  };
}

export function replaceReferences(value: Json, lookUp: (reference: Reference) => Json): Json {
  if (value instanceof Reference) return lookUp(value);
  if (Array.isArray(value)) return value.map((item: Json) => replaceReferences(item, lookUp));
  if (!isJsonObject(value)) return value;
  const copy: Record<string, Json> = Object.create(null);
  for (const key in value) copy[key] = replaceReferences(value[key]!, lookUp);
  return copy;
}

function charge(before: number, bytes: number, maxBytes: number): number {
  if (before + bytes <= maxBytes) return before + bytes;
  throw overLimit('reference-bytes', `the references of the frame have values of more than ${maxBytes} bytes`);
}

function overLimit(reason: string, message: string): AccpError {
  const help = 'send fewer references, or raise the option references of the receiving codec';
  return new AccpError({ code: 'E2003', message, help, details: { reason } });
}

/** Freezes a value deeply and returns its length in bytes as JSON; stops beyond `max`. */
function freezeAndMeasure(value: Json, max: number): number {
  if (typeof value === 'string') return byteLength(value) + 2;
  if (value === null || typeof value !== 'object') return String(value).length;
  if (value instanceof Reference) return value.path.length + 1;
  let bytes = 2;
  for (const key in value) {
    bytes += 1 + (Array.isArray(value) ? 0 : byteLength(key) + 3);
    bytes += freezeAndMeasure((value as JsonObject)[key]!, max - bytes);
    if (bytes > max) return bytes;
  }
  Object.freeze(value);
  return bytes;
}

type LookUp = (key: string, tier: Tier | null) => Lookup;

function follow(path: string, requested: string, lookUp: LookUp, hops: number): Json {
  if (hops === 0) throw missing(requested, 'is circular');
  const segments = path.split('.');
  const tier = segments.length > 1 ? tierOf(segments[0]!) : null;
  if (tier !== null) segments.shift();
  const [key, ...rest] = segments;
  const found = lookUp(key!, tier);
  if (found === undefined) throw missing(requested, 'is unknown');
  if (found === 'expired') {
    throw new AccpError({ code: 'E2002', message: `$${requested} has expired`, details: { ref: requested } });
  }
  let { value } = found;
  for (let at = 0; ; at++) {
    // The rest of the path applies to the target of the reference.
    if (value instanceof Reference) {
      return follow([value.path, ...rest.slice(at)].join('.'), requested, lookUp, hops - 1);
    }
    if (at === rest.length) return value;
    const inner = member(value, rest[at]!);
    if (inner === undefined) throw missing(requested, `has no member "${rest[at]!}"`);
    value = inner;
  }
}

function find(key: string, tier: Tier | null, { hot, warm, cold }: Tiers): Lookup {
  if (tier === 'hot') return hot.find(key);
  if (tier === 'warm') return warm.find(key);
  const own = tier === null ? firstLive([hot, warm, cold], key) : cold.find(key);
  return own ?? (isShareable(key, tier) ? cold.findElsewhere(key) : undefined);
}

/** Returns the first live value. An expired value does not hide one in the next tier. */
function firstLive(tiers: readonly { readonly find: (key: string) => Lookup }[], key: string): Lookup {
  let result: Lookup;
  for (const tier of tiers) {
    const found = tier.find(key);
    if (found !== undefined && found !== 'expired') return found;
    result ??= found;
  }
  return result;
}

function tierOf(segment: string): Tier | null {
  return segment === 'hot' || segment === 'warm' || segment === 'cold' ? segment : null;
}

function member(value: Json, segment: string): Json | undefined {
  if (Array.isArray(value)) return INDEX.test(segment) ? (value as readonly Json[])[Number(segment)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function missing(path: string, what: string): AccpError {
  return new AccpError({ code: 'E2001', message: `$${path} ${what}`, details: { ref: path } });
}
