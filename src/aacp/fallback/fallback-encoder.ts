/** Encodes instructions as packets in three tiers (draft-mackay-aacp-01, section 6.3). */
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
import { callModel } from './call-model.js';
import { FallbackError } from './errors.js';
import { type FallbackOptions, type Platform, resolveOptions } from './options.js';
import { type EncodeOptions, type FallbackRequest, requestReader } from './request.js';
import type { FallbackExplanation, FallbackResult, FallbackWarning } from './result.js';
import { type SafeRegistry, safeRegistry } from './safe-registry.js';
import { runExclusively, singleFlight } from './single-flight.js';

/** An encoder for instructions in plain language. */
export interface FallbackEncoder {
  /**
   * Encodes an instruction. If it is new, the model is called once, even if several callers, or several processes that share the registry,
   * encode it at the same time. The packet is stored. Invalid packets are neither stored nor returned.
   *
   * @throws FallbackError if there is no packet, with the cost of the calls; ModelError if the model cannot be called; StoreError if the
   *   default registry cannot be opened; TypeError if `signal` is not an AbortSignal
   */
  readonly encode: (instruction: string, options: EncodeOptions) => Promise<FallbackResult>;
  /**
   * Explains which tier would answer `encode`, and which similar patterns do not match. Calls no model and changes no counts.
   *
   * @throws FallbackError if the instruction is invalid
   */
  readonly explain: (instruction: string, options: EncodeOptions) => Promise<FallbackExplanation>;
  /** Returns the registry when it is open; `null` if there is none. */
  readonly registry: () => Promise<Registry | null>;
  /** Waits for pending encodings, writes pending entries, and closes the registry if the encoder opened it. */
  readonly close: () => Promise<void>;
}

const REPEATED = 'The same instruction was encoded before, for the same domain, agent and priority.';
const SHARED = 'Another caller sent the same instruction to the model at the same time; this is its packet.';

/** @throws TypeError if an option is invalid */
export function encoderOn(platform: Platform, options: FallbackOptions): FallbackEncoder {
  const settings = resolveOptions(options, platform);
  const readRequest = requestReader();
  const flights = singleFlight<Answer>();
  const pending = new Set<Promise<FallbackResult>>();
  let opened: ReturnType<typeof openTiers> | undefined;
  let closing: Promise<void> | undefined;

  async function tiers() {
    if (closing !== undefined) throw new FallbackError({ code: 'closed', message: 'The encoder is closed.' });
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
      /** Warnings that are returned once, with the first answer. */
      openingWarnings: warning === null ? [] : [warning],
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
    // Capital letters count if they make it a different instruction.
    const flight = `${request.key}\n${caseOf(request.instruction)}`;
    const { value, led } = await flights.run(flight, (all) => askOnce(request, safe, candidates, all), signal);
    if (led) return value;
    safe.markSeen(request.key);
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
        callModel(model, request, hintsOf(candidates), signal, strict, platform.grammar),
      );
      const answer = modelAnswer(made, candidates, request);
      return { ...answer, warnings: [...answer.warnings, ...safe.put(entryOf(request, made))] };
    };
    if (safe.inner === null) return call();
    // An entry of another process is checked like any other.
    const poll = (): Answer | undefined => {
      const entry = safe.get(request);
      return entry === undefined ? undefined : cachedAnswer(entry.packet, request, SHARED);
    };
    const keys = [request.key, otherKeyOf(request)] as const;
    const turn = await runExclusively(safe.inner, keys, { poll, work: call, signal: all, waitTimeoutMs });
    if (turn.kind === 'known') safe.markSeen(request.key);
    return turn.value;
  }

  async function encoded(instruction: string, given: EncodeOptions): Promise<FallbackResult> {
    const request = readRequest(instruction, given, settings.now());
    const open = await tiers();
    const warnings: FallbackWarning[] = open.openingWarnings.splice(0);
    return resultOf(await answer(), request, warnings, settings.counter);

    async function answer(): Promise<Answer> {
      const entry = open.safe.get(request, warnings);
      if (entry !== undefined) {
        open.safe.markSeen(entry.key);
        return cachedAnswer(entry.packet, request, REPEATED);
      }
      const match = open.match(request);
      const found = patternAnswer(match, request);
      if (found === null) return fromModel(request, open.safe, candidatesOf(match), given.signal);
      const source = found.explain.match?.source;
      if (source?.kind === 'registry') open.safe.markSeen(source.entry.key);
      return found;
    }
  }

  async function close(): Promise<void> {
    await Promise.allSettled(pending);
    const open = await opened?.catch(() => undefined);
    open?.safe.retryUnstored();
    if (settings.ownsRegistry) open?.safe.inner?.close();
    else open?.safe.inner?.flush();
  }

  return {
    async encode(instruction, given) {
      const work = encoded(instruction, given);
      pending.add(work);
      try {
        return await work;
      } finally {
        pending.delete(work);
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

/** Returns the key to reserve if the entry of the usual key has other capital letters or is for another day. No entry has this key. */
function otherKeyOf({ key, instruction, now }: FallbackRequest): string {
  return digestOf(JSON.stringify([key, caseOf(instruction), isoDay(now)]));
}
