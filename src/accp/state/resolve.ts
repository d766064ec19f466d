/** Looking references up (draft-benzing-accp-00, sections 3.1, 5.1 and 7.3, step 2). */
import { AccpError } from '../codec/accp-error.js';
import type { Json } from '../message/json.js';
import { Reference } from '../message/reference.js';
import type { ColdTier } from './cold.js';
import type { HotTier } from './hot.js';
import { isShareable, type Lookup, type Tier } from './kept.js';
import { isObject } from './snapshot.js';
import type { WarmTier } from './warm.js';

export interface Tiers {
  readonly hot: HotTier;
  readonly warm: WarmTier;
  readonly cold: ColdTier;
}

/** A reference may lead to another one; more in a row are a circle. */
const MAX_HOPS = 8;

const INDEX = /^(0|[1-9][0-9]{0,8})$/;

/**
 * The value at a path: `hot.k`, `warm.ckpt_1.status`, `cold.k`, or without a tier `k`, which is looked up in hot, warm and
 * cold state in turn. Further segments go down into objects and lists.
 *
 * @throws AccpError with code `E2001` where there is nothing, `E2002` where it has expired, `E5002` where it is the cold state
 *   of another session that was not granted
 */
export function resolvePath(path: string, tiers: Tiers): Json {
  return follow(path, path, tiers, MAX_HOPS);
}

function follow(path: string, asked: string, tiers: Tiers, hops: number): Json {
  if (hops === 0) throw missing(asked, 'leads in a circle');
  const segments = path.split('.');
  const tier = segments.length > 1 ? tierOf(segments[0]!) : null;
  if (tier !== null) segments.shift();
  const [key, ...rest] = segments;
  const found = find(key!, tier, tiers);
  if (found === undefined) throw missing(asked, 'is not known');
  if (found === 'expired') {
    throw new AccpError({ code: 'E2002', message: `$${asked} has expired`, details: { ref: asked } });
  }
  let { value } = found;
  for (let at = 0; ; at++) {
    // What is left of the path goes on from where the reference leads.
    if (value instanceof Reference) {
      return follow([value.path, ...rest.slice(at)].join('.'), asked, tiers, hops - 1);
    }
    if (at === rest.length) return value;
    const inner = member(value, rest[at]!);
    if (inner === undefined) throw missing(asked, `has no "${rest[at]!}" there`);
    value = inner;
  }
}

function find(key: string, tier: Tier | null, { hot, warm, cold }: Tiers): Lookup {
  if (tier === 'hot') return hot.find(key);
  if (tier === 'warm') return warm.find(key);
  const own = tier === null ? firstLive([hot, warm, cold], key) : cold.find(key);
  return own ?? (isShareable(key, tier) ? cold.findElsewhere(key) : undefined);
}

/** A value that has expired in one tier does not hide one in the next. */
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
  return isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function missing(path: string, what: string): AccpError {
  return new AccpError({ code: 'E2001', message: `$${path} ${what}`, details: { ref: path } });
}
