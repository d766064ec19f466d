/** A registry whose failures do not prevent encodings: they become warnings. */

import { memoize } from '../../text/memoize.js';
import { anyText } from '../../text/visible.js';
import { caseOf, digestOf, isSameCase } from '../matching/instruction/normalise.js';
import { staleTimeIn, unstatedIn } from '../matching/unstated.js';
import { tryParsePacket } from '../parse.js';
import type { NewEntry, Registry, RegistryEntry, RegistryRequest } from '../registry/registry.js';
import { validatePacket } from '../validate.js';
import type { FallbackRequest } from './request.js';
import type { FallbackWarning } from './result.js';

/** The number of packets that are memoized, and their maximum length. */
const MAX_KNOWN = 2000;
const MAX_LENGTH = 2000;
export const factsOf = memoize(readFacts, MAX_KNOWN, MAX_LENGTH);

function readFacts(text: string) {
  const read = tryParsePacket(text);
  const { task, domain, fields } = read.ok ? read.value : { task: '', domain: '', fields: [] };
  const fieldOf = (name: string): string | undefined => fields.find(({ key }) => key === name)?.value;
  return {
    /** `true` if the packet parses strictly and the validator finds no errors. */
    valid: read.ok && validatePacket(read.value).valid,
    task,
    domain,
    returnAgent: fieldOf('return'),
    /** The priority; 2 is the default (section 5.3). */
    priority: fieldOf('p') ?? '2',
    version: fieldOf('aacp'),
  };
}

/** Returns whether a packet from a registry or a rule is valid, and for this request. */
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

/** The maximum number of entries that wait to be stored. Beyond it, the oldest is dropped. */
const MAX_UNSTORED = 1000;

export type SafeRegistry = ReturnType<typeof safeRegistry>;

/**
 * @param inner `null` for none: no entry is found, and none is stored
 * @param strict ignores packets with values that the instruction does not state
 */
export function safeRegistry(inner: Registry | null, strict: boolean) {
  const unstored = new Map<string, NewEntry>();
  // A registry that keeps failing, as on a full disk, is reported once, and again after it has worked.
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
        warnings.push({ code: 'registry-failed', message: `The registry could not be used: ${messageOf(thrown)}` });
      }
      return otherwise;
    }
  }

  /** `true` if the entry of the last key that was looked up has other capital letters. */
  let hasOtherCase = false;

  function find(
    key: string,
    request: FallbackRequest,
    warnings?: FallbackWarning[],
  ): Pick<RegistryEntry, 'key' | 'packet'> | undefined {
    hasOtherCase = false;
    const entry = unstored.get(key) ?? attempt((registry) => registry.get(key), undefined, warnings);
    // A registry of the application may return null.
    if (entry === undefined || entry === null) return undefined;
    if (entry.normalised !== request.normalised || !isPacketFor(entry.packet, request)) {
      warnings?.push({
        code: 'bad-entry',
        message: 'An entry of the registry was ignored: its packet is not valid for this request.',
      });
      return undefined;
    }
    // The key ignores case, but ids and addresses may differ by it.
    hasOtherCase = !isSameCase(entry.instruction ?? '', request.instruction);
    if (hasOtherCase) return undefined;
    if (strict && unstatedIn(entry.packet, request.instruction, request.now).length > 0) return undefined;
    const stale = staleTimeIn({ ...entry, createdAt: entry.createdAt ?? request.now }, request.now);
    return stale === null ? { key, packet: entry.packet } : undefined;
  }

  /** Gives an entry a key of its own if another entry has the same words with other capital letters. */
  function withFreeKey(entry: NewEntry): NewEntry {
    const other = unstored.get(entry.key) ?? attempt((registry) => registry.get(entry.key), undefined);
    const isFree = other === undefined || other === null || isSameCase(other.instruction ?? '', entry.instruction);
    return isFree ? entry : { ...entry, key: caseKeyOf(entry) };
  }

  /** Stores an entry. Returns the message of the error, or `null`. */
  function store(entry: NewEntry): string | null {
    try {
      inner?.put(entry);
      failing.writes = false;
      return null;
    } catch (thrown) {
      return messageOf(thrown);
    }
  }

  /** Retries to store entries that could not be stored. */
  function retryUnstored(): void {
    let failures = 0;
    for (const [key, entry] of [...unstored]) {
      unstored.delete(key);
      if (store(entry) === null) continue;
      // Moved behind the others: it may be the only one that cannot be stored.
      unstored.set(key, entry);
      // If the registry fails, each attempt may take long.
      if (++failures === 2) break;
    }
  }

  return {
    /** The registry itself, for reservations; `null` if there is none. */
    inner,
    retryUnstored,
    /** Returns the checked entry of a request. */
    get(request: FallbackRequest, warnings?: FallbackWarning[]) {
      const entry = find(request.key, request, warnings);
      if (entry !== undefined || !hasOtherCase) return entry;
      return find(caseKeyOf(request), request, warnings);
    },
    /** Counts that an entry was used. */
    markSeen(key: string): void {
      if (unstored.has(key)) retryUnstored();
      attempt((registry) => registry.markSeen(key), undefined);
    },
    /** Stores an entry, or keeps it in memory while the registry fails. */
    put(given: NewEntry): readonly FallbackWarning[] {
      if (inner === null) return [];
      const entry = withFreeKey(given);
      const problem = store(entry);
      if (problem === null) {
        retryUnstored();
        return [];
      }
      unstored.set(entry.key, entry);
      if (unstored.size > MAX_UNSTORED) unstored.delete(unstored.keys().next().value!);
      if (failing.writes) return [];
      failing.writes = true;
      const message = `The packet could not be stored. It and later ones are kept in memory, and storing is retried: ${problem}`;
      return [{ code: 'not-stored', message }];
    },
    /** Returns entries that are similar to an instruction and whose packets are valid. */
    candidates(domain: string, terms: readonly string[], limit: number): readonly RegistryEntry[] {
      const entries = attempt((registry) => registry.candidates(domain, terms, limit), []);
      return entries.filter((entry) => isPacketFor(entry.packet, entry));
    },
  };
}

/** Returns the key of an entry whose capital letters differ from those of the entry with the usual key. */
function caseKeyOf({ key, instruction }: Pick<NewEntry, 'key' | 'instruction'>): string {
  return digestOf(JSON.stringify([key, caseOf(instruction)]));
}

/** Returns the message of an error: a registry of the application may throw anything. */
function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : anyText(thrown);
}
