/** What a codec is told once, with its defaults. */
import { resolveChoice } from '../../text/limits.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { Frame } from '../ast.js';
import type { TextPolicy } from '../message/write-value.js';
import type { Dialect } from '../parse.js';
import { PROFILES, type ToolBook } from '../profiles/profiles.js';
import type { Registry } from '../registry/registry.js';
import { systemClock } from '../session/runtime.js';
import { type ReferenceLimits, resolveReferenceLimits } from '../state/resolve.js';
import type { CheckpointTools } from '../state/state.js';
import type { EventListener } from '../store/events.js';
import { INTENTS } from '../vocabulary.js';
import { type FrameLimits, resolveFrameLimits } from './frame-limits.js';

export interface CodecOptions {
  /** Schemas to begin with, as `exportRegistry` writes them. @default the six of the profiles */
  readonly registry?: Registry | undefined;
  /**
   * What is done with strings that the grammar cannot write. By default a session begins with `reject` and goes on with
   * `transliterate` when both sides have announced it. `externalize` is for sessions whose ends share a store.
   */
  readonly text?: TextPolicy | undefined;
  /** How frames are read; they are always written in the strict dialect. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** Counts tokens: `await loadTokenCounter('o200k_base')`. @default estimates, which results say of themselves */
  readonly tokens?: TokenCounter | undefined;
  /** Most tokens of a frame and its parts. @default those of Table 3 */
  readonly limits?: Partial<FrameLimits> | undefined;
  /** What the references of one received frame may stand for; a frame beyond is refused with E2003. */
  readonly references?: Partial<ReferenceLimits> | undefined;
  /** Codes of the profiles in use. @default all: CH, TC, TX, ST, TA, ER */
  readonly profiles?: readonly string[] | undefined;
  /** Intents beyond those of Table 7 and `ping` and `pong`. */
  readonly intents?: readonly string[] | undefined;
  /** The tools on this side: requests for others are refused with E4001, bad arguments with E4003. */
  readonly tools?: ToolBook | undefined;
  /** Whether a frame that passed all checks of delivery may be processed; a string is the reason for E5001. */
  readonly authorize?: ((frame: Frame) => boolean | string) | undefined;
  /** Extraction of facts and summaries at checkpoints. @default deterministic ones */
  readonly checkpointTools?: CheckpointTools | undefined;
  /** `manual`: `checkpoint(session)` is the host's to call when a budget says so. @default 'auto' */
  readonly checkpoints?: 'auto' | 'manual' | undefined;
  /** Whether frames go into hot state at all: `false` is conformance level 1. @default true */
  readonly state?: boolean | undefined;
  /** Whether `sid` stands in every frame or, to save tokens, in the first of a session. @default 'always' */
  readonly sessionId?: 'always' | 'first' | undefined;
  /** Seconds since 1970. @default the system's clock */
  readonly clock?: (() => number) | undefined;
  /** Makes identifiers of messages. @default a random letter from a to f and eleven digits */
  readonly ids?: (() => string) | undefined;
  /** The debug log: told every step of every session (section 9, item 1). */
  readonly log?: EventListener | undefined;
  /** Adds plain English to the events about frames. @default false */
  readonly explain?: boolean | undefined;
}

/** The options after defaults. */
export interface Settings {
  readonly text: TextPolicy | undefined;
  readonly dialect: Dialect;
  readonly tokens: TokenCounter;
  readonly limits: FrameLimits;
  readonly references: ReferenceLimits;
  readonly profiles: ReadonlySet<string>;
  readonly intents: ReadonlySet<string>;
  readonly tools: ToolBook | undefined;
  readonly authorize: ((frame: Frame) => boolean | string) | undefined;
  readonly checkpointTools: CheckpointTools;
  readonly checkpoints: 'auto' | 'manual';
  readonly state: boolean;
  readonly sessionId: 'always' | 'first';
  readonly clock: () => number;
  readonly ids: () => string;
  readonly log: EventListener | undefined;
  readonly explain: boolean;
}

const TEXT_POLICIES: readonly TextPolicy[] = ['reject', 'transliterate', 'externalize'];

/** Heartbeats of a transport (section 11.2). */
const HEARTBEAT = ['ping', 'pong'];

/** @throws TypeError on options that are none */
export function resolveCodecOptions(options: CodecOptions, ids: () => string): Settings {
  const codes = PROFILES.map(({ code }) => code);
  for (const code of options.profiles ?? []) resolveChoice('profiles', code, codes);
  return {
    text: options.text === undefined ? undefined : resolveChoice('text', options.text, TEXT_POLICIES),
    dialect: resolveChoice('dialect', options.dialect, ['strict', 'lenient']),
    tokens: options.tokens ?? ESTIMATING_COUNTER,
    limits: resolveFrameLimits(options.limits),
    references: resolveReferenceLimits(options.references),
    profiles: new Set(options.profiles ?? codes),
    intents: new Set([...Object.keys(INTENTS), ...HEARTBEAT, ...(options.intents ?? [])]),
    tools: options.tools,
    authorize: options.authorize,
    checkpointTools: options.checkpointTools ?? {},
    checkpoints: resolveChoice('checkpoints', options.checkpoints, ['auto', 'manual']),
    state: options.state ?? true,
    sessionId: resolveChoice('sessionId', options.sessionId, ['always', 'first']),
    clock: options.clock ?? systemClock,
    ids: options.ids ?? ids,
    log: options.log,
    explain: options.explain ?? false,
  };
}
