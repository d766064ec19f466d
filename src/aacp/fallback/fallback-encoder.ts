/** The fallback encoder: instructions to packets in three tiers (draft-mackay-aacp-01, section 6.3). */
import { withTimeout } from '../../async/abort.js';
import { isoDay } from '../matching/instruction/calendar.js';
import { caseOf, digestOf } from '../matching/instruction/normalise.js';
import type { Candidate } from '../matching/match.js';
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
   * Encodes an instruction. A novel one is put to the model once, however many ask at the same time, here or in other processes that
   * share the registry. The packet is kept; nothing invalid is kept or returned.
   *
   * @throws FallbackError if there is no packet, with what was paid all the same; ModelError if the model cannot be asked;
   *   StoreError if the default registry cannot be opened; TypeError if `signal` is invalid
   */
  readonly encode: (instruction: string, options: EncodeOptions) => Promise<FallbackResult>;
  /**
   * Explains what `encode` would answer from, and which patterns came near without serving. Asks no model and counts nothing.
   *
   * @throws FallbackError if the instruction is invalid
   */
  readonly explain: (instruction: string, options: EncodeOptions) => Promise<FallbackExplanation>;
  /** The registry, once it is open; `null` where there is none. */
  readonly registry: () => Promise<Registry | null>;
  /** Waits for the encodings under way, writes what waits to be written, and closes the registry if the encoder opened it. */
  readonly close: () => Promise<void>;
}

const REPEATED = 'The same instruction was encoded before, for the same domain, agent and priority.';
const SHARED = 'Somebody else asked the model for the same instruction at the same time; this is its packet.';

/** @throws TypeError if an option is invalid */
export function encoderOn(platform: Platform, options: FallbackOptions): FallbackEncoder {
  const settings = resolveOptions(options, platform);
  const readRequest = requestReader();
  const flights = singleFlight<Answer>();
  const underWay = new Set<Promise<FallbackResult>>();
  let opened: ReturnType<typeof openTiers> | undefined;
  let closing: Promise<void> | undefined;

  async function tiers() {
    if (closing !== undefined) throw new FallbackError({ code: 'closed', message: 'The encoder was closed.' });
    opened ??= openTiers();
    try {
      return await opened;
    } catch (thrown) {
      // The next call tries again.
      opened = undefined;
      throw thrown;
    }
  }

  async function openTiers() {
    const [{ registry, warning }, rules] = await Promise.all([settings.openRegistry(), settings.rules()]);
    const safe = safeRegistry(registry, settings.strict);
    const { patterns, threshold } = settings;
    const { encodeStep } = platform;
    const matcher = createMatcher({ rules, registry: patterns ? safe : null, threshold, encodeStep });
    return {
      safe,
      /** Warnings that are given once, with the first answer. */
      news: warning === null ? [] : [warning],
      match: (request: FallbackRequest) => matchFor(matcher.match(request), request, settings.strict),
    };
  }

  /** Tier 3. Callers of the same request share one call. */
  async function fromModel(
    request: FallbackRequest,
    safe: SafeRegistry,
    candidates: readonly Candidate[],
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    // Capital letters count where they make another instruction.
    const flight = `${request.key}\n${caseOf(request.instruction)}`;
    const { value, led } = await flights.run(flight, (all) => askOnce(request, safe, candidates, all), signal);
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
    const { model, timeoutMs, waitTimeoutMs, strict } = settings;
    if (model === null) throw noModel(candidates);
    const call = async (): Promise<Answer> => {
      const made = await withTimeout(all, timeoutMs, (signal) =>
        askModel(model, request, hintsOf(candidates), signal, strict, platform.grammar),
      );
      const answer = modelAnswer(made, candidates, request);
      return { ...answer, warnings: [...answer.warnings, ...safe.put(entryOf(request, made))] };
    };
    if (safe.inner === null) return call();
    // Another process's entry is checked like any other.
    const look = (): Answer | undefined => {
      const entry = safe.get(request);
      return entry === undefined ? undefined : cachedAnswer(entry.packet, request, SHARED);
    };
    const keys = [request.key, otherKeyOf(request)] as const;
    const turn = await takeTurn(safe.inner, keys, { look, work: call, signal: all, waitTimeoutMs });
    if (turn.kind === 'known') safe.seen(request.key);
    return turn.value;
  }

  async function encoded(instruction: string, given: EncodeOptions): Promise<FallbackResult> {
    const request = readRequest(instruction, given, settings.now());
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
      if (found === null) return fromModel(request, open.safe, candidatesOf(match), given.signal);
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
      const request = readRequest(instruction, given, settings.now());
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

/** The key to reserve where the entry of the request's own key is for other capital letters, or for another day. No entry has it. */
function otherKeyOf({ key, instruction, now }: FallbackRequest): string {
  return digestOf(JSON.stringify([key, caseOf(instruction), isoDay(now)]));
}
