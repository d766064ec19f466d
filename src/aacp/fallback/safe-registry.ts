/** A registry whose failures stop no encoding: they are warnings, and the answer comes without it. */

import { memoize } from '../../text/memoize.js';
import { anyText } from '../../text/visible.js';
import { caseOf, digestOf, isSameCase } from '../matching/instruction/normalise.js';
import { staleTimeIn, unstatedIn } from '../matching/unstated.js';
import { tryParsePacket } from '../parse.js';
import type { NewEntry, Registry, RegistryEntry, RegistryRequest } from '../registry/registry.js';
import { validatePacket } from '../validate.js';
import type { FallbackRequest } from './request.js';
import type { FallbackWarning } from './result.js';

/** Most packets that are remembered, and the longest. */
const MAX_KNOWN = 2000;
const MAX_LENGTH = 2000;
export const factsOf = memoize(readFacts, MAX_KNOWN, MAX_LENGTH);

function readFacts(text: string) {
  const read = tryParsePacket(text);
  const { task, domain, fields } = read.ok ? read.value : { task: '', domain: '', fields: [] };
  const fieldOf = (name: string): string | undefined => fields.find(({ key }) => key === name)?.value;
  return {
    /** Whether it is as strict as the encoder's own packets, and the validator finds no errors. */
    valid: read.ok && validatePacket(read.value).valid,
    task,
    domain,
    returnAgent: fieldOf('return'),
    /** 2 is the default of section 5.3. */
    priority: fieldOf('p') ?? '2',
    version: fieldOf('aacp'),
  };
}

/** Whether a packet from elsewhere is valid, and for this very request. */
export function isPacketFor(text: unknown, request: RegistryRequest): boolean {
  if (typeof text !== 'string') return false;
  const { valid, domain, returnAgent, priority, version } = factsOf(text);
  return (
    valid &&
    domain === request.domain &&
    returnAgent === request.returnAgent &&
    priority === request.priority &&
    version === request.version
  );
}

/** Most packets that wait to be stored; beyond it, the oldest is dropped. */
const MAX_UNSTORED = 1000;

export type SafeRegistry = ReturnType<typeof safeRegistry>;

/**
 * @param inner `null` for none: nothing is found, and nothing is kept
 * @param strict serves no packet with values that its instruction does not state
 */
export function safeRegistry(inner: Registry | null, strict: boolean) {
  const unstored = new Map<string, NewEntry>();
  // A registry that keeps failing, as on a full disk, is one warning, and another after it has worked.
  const failing = { reads: false, writes: false };

  function attempt<T>(step: (registry: Registry) => T, otherwise: T, warnings?: FallbackWarning[]): T {
    if (inner === null) return otherwise;
    try {
      const result = step(inner);
      if (warnings !== undefined) failing.reads = false;
      return result;
    } catch (thrown) {
      if (warnings !== undefined && !failing.reads) {
        failing.reads = true;
        warnings.push({ code: 'registry-failed', message: `The registry could not be used: ${told(thrown)}` });
      }
      return otherwise;
    }
  }

  /** Whether the last key that was looked up has an entry of other capital letters. */
  let isKept = false;

  function find(
    key: string,
    request: FallbackRequest,
    warnings?: FallbackWarning[],
  ): Pick<RegistryEntry, 'key' | 'packet'> | undefined {
    isKept = false;
    const entry = unstored.get(key) ?? attempt((registry) => registry.get(key), undefined, warnings);
    // A registry of the host's own may give null.
    if (entry === undefined || entry === null) return undefined;
    if (entry.normalised !== request.normalised || !isPacketFor(entry.packet, request)) {
      warnings?.push({
        code: 'bad-entry',
        message: 'The registry has an entry that is no valid packet for this request; it was not served.',
      });
      return undefined;
    }
    // The key takes capital letters and small ones for the same; an id or an address may not.
    isKept = !isSameCase(entry.instruction ?? '', request.instruction);
    if (isKept) return undefined;
    if (strict && unstatedIn(entry.packet, request.instruction, request.now).length > 0) return undefined;
    const stale = staleTimeIn({ ...entry, createdAt: entry.createdAt ?? request.now }, request.now);
    return stale === null ? { key, packet: entry.packet } : undefined;
  }

  /** Moves an entry to a key of its own if another one has the same words in other capital letters. */
  function placed(entry: NewEntry): NewEntry {
    const other = unstored.get(entry.key) ?? attempt((registry) => registry.get(entry.key), undefined);
    const isFree = other === undefined || other === null || isSameCase(other.instruction ?? '', entry.instruction);
    return isFree ? entry : { ...entry, key: caseKeyOf(entry) };
  }

  function stored(entry: NewEntry): string | null {
    try {
      inner?.put(entry);
      failing.writes = false;
      return null;
    } catch (thrown) {
      return told(thrown);
    }
  }

  /** Tries again to store what could not be stored. */
  function storeRest(): void {
    let failures = 0;
    for (const [key, entry] of [...unstored]) {
      unstored.delete(key);
      if (stored(entry) === null) continue;
      // Behind the others: it may be the only one that cannot be stored.
      unstored.set(key, entry);
      // Where the registry fails, each try may take its time.
      if (++failures === 2) break;
    }
  }

  return {
    /** The registry itself, for reservations; `null` where there is none. */
    inner,
    storeRest,
    /** The entry of a request, checked. */
    get(request: FallbackRequest, warnings?: FallbackWarning[]) {
      const entry = find(request.key, request, warnings);
      if (entry !== undefined || !isKept) return entry;
      return find(caseKeyOf(request), request, warnings);
    },
    /** Counts that an entry was served. */
    seen(key: string): void {
      if (unstored.has(key)) storeRest();
      attempt((registry) => registry.markSeen(key), undefined);
    },
    /** Keeps an entry; in memory, as long as the registry fails. */
    put(given: NewEntry): readonly FallbackWarning[] {
      if (inner === null) return [];
      const entry = placed(given);
      const problem = stored(entry);
      if (problem === null) {
        storeRest();
        return [];
      }
      unstored.set(entry.key, entry);
      if (unstored.size > MAX_UNSTORED) unstored.delete(unstored.keys().next().value!);
      if (failing.writes) return [];
      failing.writes = true;
      const message = `The packet could not be stored; it is kept in memory and tried again, as are those that follow: ${problem}`;
      return [{ code: 'not-stored', message }];
    },
    /** Entries like an instruction, without those whose packets are not what they say. */
    candidates(domain: string, terms: readonly string[], limit: number): readonly RegistryEntry[] {
      const entries = attempt((registry) => registry.candidates(domain, terms, limit), []);
      return entries.filter((entry) => isPacketFor(entry.packet, entry));
    },
  };
}

/** The key of an entry whose capital letters differ from those of the usual key's. */
function caseKeyOf({ key, instruction }: Pick<NewEntry, 'key' | 'instruction'>): string {
  return digestOf(JSON.stringify([key, caseOf(instruction)]));
}

/** A host's own registry may throw anything. */
function told(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : anyText(thrown);
}
