/** Answers to packets, in the JSON form that all bindings share. */
import * as z from 'zod';
import type { Packet } from '../ast.js';
import { canonicalText } from '../build/hash.js';
import type { DispatchReason, DispatchResult, Handled, Refusal } from '../dispatch/dispatcher.js';
import { exactFault } from '../dispatch/exact.js';
import { validatePacket } from '../validate.js';

/**
 * The reason of a binding for refusing a packet, besides those of the dispatcher.
 *
 * - `no-packet`: the message or request contains no packet.
 * - `not-utf8`, `too-large`, `truncated`: the packet could not be read.
 * - `unauthenticated`: the sender is not authenticated.
 * - `bad-answer`: the handler returned, but its value is neither a valid packet nor JSON.
 * - `cancelled`: the task was cancelled before the packet was dispatched.
 */
export type BindingReason =
  | 'no-packet'
  | 'not-utf8'
  | 'too-large'
  | 'truncated'
  | 'unauthenticated'
  | 'bad-answer'
  | 'cancelled';

/** The reason why a packet was refused. */
export type AnswerReason = DispatchReason | BindingReason;

/** The answer to a packet. */
export type PacketAnswer = HandledAnswer | RefusedAnswer;

/** The answer to a packet that was handled. */
export interface HandledAnswer {
  /** `true`: the handler returned. */
  readonly ok: true;
  /** The `packetHash` of the packet. */
  readonly hash: string;
  /** The packet that the handler returned, if it returned one. */
  readonly packet?: string | undefined;
  /** The value that the handler returned, if it is another one: JSON. */
  readonly value?: unknown;
  /** The codes of the validator's warnings. */
  readonly warnings: readonly string[];
}

/** The answer to a packet that was not handled, or whose handler failed. */
export interface RefusedAnswer {
  /** `false`: the packet was not handled. */
  readonly ok: false;
  /** The stable reason, an {@link AnswerReason}; later versions may have others. */
  readonly reason: string;
  /** The reason for people, in one sentence. */
  readonly message: string;
  /** The `packetHash` of the packet; `null` if it is not valid. */
  readonly hash: string | null;
  /** The errors of the validator. */
  readonly errors: readonly AnswerFinding[];
  /** The codes of the validator's warnings. */
  readonly warnings: readonly string[];
}

/** An error of the validator, as it is sent. */
export interface AnswerFinding {
  /** The code of the validator. */
  readonly code: string;
  /** The problem, in one sentence. */
  readonly message: string;
  /** The section of the draft. */
  readonly section: string;
  /** The position in the packet, in UTF-16 code units; `null` if there is none. */
  readonly span: { readonly start: number; readonly end: number } | null;
  /** A way to fix the problem, if one is known. */
  readonly help?: string | undefined;
}

const MESSAGES: Readonly<Record<AnswerReason, string>> = {
  invalid: 'The packet is not valid.',
  'no-handler': 'No handler matches the TASK and DOM of the packet.',
  'no-audit': 'The packet could not be recorded, so it was not handled; send it again.',
  'no-verdict': 'The replay guard failed, so the packet was not handled; send it again.',
  failed: 'The handler failed.',
  'several-lines': 'The text must be one packet; it has several lines.',
  'hidden-character': 'The text must be one packet; it has a character that cannot be seen or that controls the text.',
  'surrounding-text': 'The text must be one packet; other text surrounds it.',
  'no-envelope': 'The nonce and the time of sending are required.',
  'bad-envelope': 'The nonce must have 1 to 256 characters, and the time must be milliseconds since 1970.',
  'too-old': 'The time of sending is too far in the past.',
  'too-new': 'The time of sending is in the future.',
  repeated: 'The nonce was used before; the packet was not handled again.',
  'guard-full': 'The replay guard is full; send the packet again later.',
  'no-packet': 'There is no packet; send it as application/aacp.',
  'not-utf8': 'The packet is not UTF-8.',
  'too-large': 'The packet is too large.',
  truncated: 'The connection closed in the middle of the packet.',
  unauthenticated: 'The sender is not authenticated.',
  'bad-answer': 'The packet was handled, but its result cannot be sent.',
  cancelled: 'The task was cancelled before the packet was dispatched.',
};

/** Creates the answer to a packet that did not reach the dispatcher, or whose result cannot be sent. */
export function refusedAnswer(reason: AnswerReason, found: Partial<RefusedAnswer> = {}): RefusedAnswer {
  return { ok: false, reason, message: MESSAGES[reason], hash: null, errors: [], warnings: [], ...found };
}

/** Converts the result of a dispatch. Errors that a handler throws are not sent. */
export function answerOf(result: DispatchResult<unknown>): PacketAnswer {
  return result.ok ? handledAnswer(result) : refusal(result);
}

function refusal({ reason, hash, errors, warnings }: Refusal): RefusedAnswer {
  const findings = errors.map(({ code, message, section, span, help }): AnswerFinding => {
    const finding = { code, message, section, span };
    return help === undefined ? finding : { ...finding, help };
  });
  return refusedAnswer(reason, { hash, errors: findings, warnings: codesOf(warnings) });
}

function handledAnswer({ value, hash, warnings }: Handled<unknown>): PacketAnswer {
  const common = { ok: true, hash, warnings: codesOf(warnings) } as const;
  try {
    if (value === undefined) return common;
    const packet = packetIn(value);
    if (packet !== null) return { ...common, packet };
    return { ...common, value: JSON.parse(JSON.stringify(value)) as unknown };
  } catch {
    return refusedAnswer('bad-answer', { hash, warnings: common.warnings });
  }
}

/** Returns a value that is a packet as text; `null` for another one. @throws an error if a tree of a packet is not valid (section 7) */
function packetIn(value: unknown): string | null {
  if (typeof value === 'string') {
    const { valid, packet } = validatePacket(value);
    return valid && exactFault(value, packet) === null ? value : null;
  }
  if ((value as { readonly kind?: unknown } | null)?.kind !== 'packet') return null;
  const text = canonicalText(value as Packet);
  const { valid, packet } = validatePacket(text);
  if (valid && exactFault(text, packet) === null) return text;
  throw new TypeError('The packet that answers must be valid');
}

function codesOf(diagnostics: readonly { readonly code: string }[]): readonly string[] {
  return [...new Set(diagnostics.map(({ code }) => code))];
}

const span = z.object({ start: z.number(), end: z.number() });
const finding = z.object({
  code: z.string(),
  message: z.string(),
  section: z.string(),
  span: span.nullable(),
  help: z.string().optional(),
});

const refusedSchema = z.object({
  ok: z.literal(false),
  reason: z.string(),
  message: z.string(),
  hash: z.string().nullable(),
  errors: z.array(finding),
  warnings: z.array(z.string()),
}) satisfies z.ZodType<RefusedAnswer>;

const handledSchema = z.object({
  ok: z.literal(true),
  hash: z.string(),
  packet: z.string().optional(),
  value: z.unknown().optional(),
  warnings: z.array(z.string()),
}) satisfies z.ZodType<HandledAnswer>;

const answerSchema = z.discriminatedUnion('ok', [handledSchema, refusedSchema]);

/** Reads an answer from JSON. Returns `null` if it is none. */
export function readAnswer(json: unknown): PacketAnswer | null {
  const read = answerSchema.safeParse(json);
  return read.success ? read.data : null;
}
