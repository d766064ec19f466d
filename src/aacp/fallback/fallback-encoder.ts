/** The fallback encoder: instructions to packets in three tiers (draft-mackay-aacp-01, section 6.3). */
import { withTimeLimit } from '../../async/abort.js';

import { isoDay } from '../matching/instruction/calendar.js';
import { caseOf, digestOf } from '../matching/instruction/normalise.js';
import type { Candidate, MatchResult } from '../matching/match.js';
import { createMatcher } from '../matching/matcher.js';
import type { Registry } from '../registry/registry.js';
import {
  type Answer,
  cachedAnswer,
  candidatesOf,
  entryOf,
  hintsOf,
  matchFor,
  modelAnswer,
  noModel,
  novel,
  patternAnswer,
  resultOf,
} from './answer.js';
import { askModel } from './ask-model.js';
import { FallbackError } from './errors.js';
import { type FallbackOptions, type Platform, resolveOptions } from './options.js';
import { type EncodeOptions, type FallbackRequest, requestReader } from './request.js';
import type { FallbackExplanation, FallbackResult, FallbackWarning } from './result.js';
import { type SafeRegistry, safeRegistry } from './safe-registry.js';
import { singleFlight, takeTurn } from './single-flight.js';

export interface FallbackEncoder {
  /**
   * The packet for an instruction. A novel one is put to the model, once, however many ask at the same time, here or in other
   * processes that share the registry; whatever comes is kept, and nothing invalid is kept or given.
   *
   * @throws FallbackError when there is no packet, with what was paid all the same; ModelError when the model cannot be asked;
   *   RegistryError when the default registry cannot be opened; TypeError on a `signal` that is none
   */
  readonly encode: (instruction: string, options: EncodeOptions) => Promise<FallbackResult>;
  /**
   * What `encode` would answer from, and why; which patterns came near, and why they do not serve. Asks no model and counts
   * nothing.
   *
   * @throws FallbackError on what is no instruction
   */
  readonly explain: (instruction: string, options: EncodeOptions) => Promise<FallbackExplanation>;
  /** The registry, once it is open; `null` where there is none. */
  readonly registry: () => Promise<Registry | null>;
  /**
   * Waits for the encodings that are under way, lest what is being paid for is lost; writes what waits to be written, and
   * closes the registry if the encoder has opened it.
   */
  readonly close: () => Promise<void>;
}

/** What the tiers work with, once the registry is open. */
interface Tiers {
  /** Warnings that are given once, with the first answer. */
  readonly news: FallbackWarning[];
  readonly safe: SafeRegistry;
  readonly match: (request: FallbackRequest) => MatchResult;
}

const REPEATED = 'The same instruction was encoded before, for the same domain, agent and priority.';
const SHARED = 'Somebody else asked the model for the same instruction at the same time; this is its packet.';

/** @throws TypeError if an option is invalid */
export function encoderOn(platform: Platform, options: FallbackOptions): FallbackEncoder {
  const settings = resolveOptions(options, platform);
  const readRequest = requestReader();
  const flights = singleFlight<Answer>();
  const underWay = new Set<Promise<FallbackResult>>();
  let opened: Promise<Tiers> | undefined;
  let closing: Promise<void> | undefined;

  async function tiers(): Promise<Tiers> {
    if (closing !== undefined) throw new FallbackError({ code: 'closed', message: 'The encoder was closed.' });
    opened ??= openTiers();
    try {
      return await opened;
    } catch (thrown) {
      // It may go better the next time.
      opened = undefined;
      throw thrown;
    }
  }

  async function openTiers(): Promise<Tiers> {
    const [{ registry, warning }, rules] = await Promise.all([settings.openRegistry(), settings.rules()]);
    const safe = safeRegistry(registry, settings.strict);
    const { patterns, threshold } = settings;
    const { encodeStep } = platform;
    const matcher = createMatcher({ rules, registry: patterns ? safe : null, threshold, encodeStep });
    return {
      safe,
      news: warning === null ? [] : [warning],
      match: (request) => matchFor(matcher.match(request), request, settings.strict),
    };
  }

  /** Tier 3, with the others who ask for the same. */
  async function fromModel(
    request: FallbackRequest,
    { safe }: Tiers,
    candidates: readonly Candidate[],
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const { value, led } = await flights.run(
      flightOf(request),
      (all) => askOnce(request, safe, candidates, all),
      signal,
    );
    if (led) return value;
    safe.seen(request.key);
    return cachedAnswer(value.packet, request, SHARED);
  }

  async function askOnce(
    request: FallbackRequest,
    safe: SafeRegistry,
    candidates: readonly Candidate[],
    all: AbortSignal,
  ): Promise<Answer> {
    const { model, timeout, patience, strict } = settings;
    if (model === null) throw noModel(candidates);
    const call = async (): Promise<Answer> => {
      const made = await withTimeLimit(all, timeout, (signal) =>
        askModel(model, request, hintsOf(candidates), signal, strict, platform.grammar),
      );
      const answer = modelAnswer(made, candidates, request);
      return { ...answer, warnings: [...answer.warnings, ...safe.put(entryOf(request, made))] };
    };
    if (safe.inner === null) return call();
    // What another process has stored is checked like any entry.
    const look = (): Answer | undefined => {
      const entry = safe.get(request);
      return entry === undefined ? undefined : cachedAnswer(entry.packet, request, SHARED);
    };
    const turn = await takeTurn(safe.inner, [request.key, otherKeyOf(request)], {
      look,
      work: call,
      signal: all,
      patience,
    });
    if (turn.kind === 'known') safe.seen(request.key);
    return turn.value;
  }

  async function encoded(instruction: string, given: EncodeOptions): Promise<FallbackResult> {
    const request = readRequest(instruction, given, settings.clock());
    const open = await tiers();
    const warnings: FallbackWarning[] = open.news.splice(0);
    return resultOf(await answer(), request, warnings, settings.counter);

    async function answer(): Promise<Answer> {
      const entry = open.safe.get(request, warnings);
      if (entry !== undefined) {
        open.safe.seen(entry.key);
        return cachedAnswer(entry.packet, request, REPEATED);
      }
      const match = open.match(request);
      const found = patternAnswer(match, request);
      if (found === null) return fromModel(request, open, candidatesOf(match), given.signal);
      const source = found.explain.match?.source;
      if (source?.kind === 'registry') open.safe.seen(source.entry.key);
      return found;
    }
  }

  async function close(): Promise<void> {
    await Promise.allSettled(underWay);
    const open = await opened?.catch(() => undefined);
    open?.safe.storeRest();
    if (settings.ownsRegistry) open?.safe.inner?.close();
    else open?.safe.inner?.flush();
  }

  return {
    async encode(instruction, given) {
      const work = encoded(instruction, given);
      underWay.add(work);
      try {
        return await work;
      } finally {
        underWay.delete(work);
      }
    },
    async explain(instruction, given) {
      const request = readRequest(instruction, given, settings.clock());
      const { safe, match: matchOf } = await tiers();
      const entry = safe.get(request);
      if (entry !== undefined) return cachedAnswer(entry.packet, request, REPEATED).explain;
      const match = matchOf(request);
      return patternAnswer(match, request)?.explain ?? novel(candidatesOf(match), request);
    },
    registry: async () => (await tiers()).safe.inner,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * The key to reserve where the entry of the request's own key does not serve it: the entry is for other capital letters, or for another
 * day. No entry has it.
 */
function otherKeyOf({ key, instruction, now }: FallbackRequest): string {
  return digestOf(JSON.stringify([key, caseOf(instruction), isoDay(now)]));
}

/** Who asks for the same, and with the same capital letters where these count, waits for the same call. */
function flightOf({ key, instruction }: FallbackRequest): string {
  return `${key}\n${caseOf(instruction)}`;
}
