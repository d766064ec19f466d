import { resolveChoice } from '../../text/limits.js';
import type { Packet } from '../ast.js';
import { canonicalText, packetHash } from '../build/hash.js';
import { RULES, type ValidationCode } from '../codes.js';
import { type PacketDiagnostic, type ValidateOptions, validatePacket } from '../validate.js';
import { lowerAscii } from '../vocabulary.js';
import type { Audit, AuditEntry } from './audit.js';
import { type ExactReason, exactFault } from './exact.js';
import type { Admission, Envelope, ReplayGuard, ReplayReason } from './replay-guard.js';

/** Options of `createDispatcher`. Either `handlers` or `deliver` is required. */
export interface DispatcherOptions<T> extends HandlerOptions<T>, Pick<ValidateOptions, 'maxLength' | 'maxItems'> {
  /** Records every attempt before the handler is called. `null` disables the log. Required, so that a log is not forgotten by accident. */
  readonly audit: Audit | null;
  /** Rejects packets that were sent before. @default none: a sender can repeat a packet, and it is handled again */
  readonly replay?: ReplayGuard | undefined;
  /** Private keys that your deployment uses (section 13): `org_*`. @default [] */
  readonly privateKeys?: readonly string[] | undefined;
  /** Warnings that make a packet invalid. No option makes a packet with errors valid. @default [] */
  readonly refuse?: readonly ValidationCode[] | undefined;
  /** Called with each warning (section 7: warnings should be logged, and must not prevent anything). Errors that it throws are ignored. */
  readonly onWarning?: ((warning: PacketDiagnostic, packet: Packet) => void) | undefined;
}

/**
 * The reason why a packet was not handled. `invalid`: see `errors`. `no-handler`: no handler matches its TASK and DOM. `no-audit`: the
 * attempt could not be recorded. `no-verdict`: the replay guard threw. With these reasons, with those of the replay guard, and with those of
 * `exact`, no handler was called. `failed`: the handler threw.
 */
export type DispatchReason =
  | 'invalid'
  | 'no-handler'
  | 'no-audit'
  | 'no-verdict'
  | 'failed'
  | ExactReason
  | ReplayReason;

/** The result of a dispatch. */
export type DispatchResult<T> = Handled<T> | Refusal;

/** The result of a dispatch whose handler returned. */
export interface Handled<T> extends DispatchFinding {
  /** `true`: the handler returned. */
  readonly ok: true;
  /** The value that the handler returned. */
  readonly value: T;
  /** The `packetHash` of the packet. */
  readonly hash: string;
}

/** The result of a dispatch whose packet was not passed to a handler, or whose handler threw. */
export interface Refusal extends DispatchFinding {
  /** `false`: the packet was not handled. */
  readonly ok: false;
  /** The reason. */
  readonly reason: DispatchReason;
  /** The `packetHash` of the packet; `null` if it is not valid. */
  readonly hash: string | null;
  /** The error that the handler or the replay guard threw. */
  readonly error?: unknown;
}

/** The findings about a packet that was dispatched. */
export interface DispatchFinding {
  /** The errors of the validator. Empty unless the reason is `invalid` or one of those of `exact`. */
  readonly errors: readonly PacketDiagnostic[];
  /** The warnings of the validator. */
  readonly warnings: readonly PacketDiagnostic[];
  /** The error of the log; `null` if everything is recorded. If it is set, the handler may have been called all the same. */
  readonly auditError: unknown;
}

/** Validates packets and passes them to handlers. */
export interface Dispatcher<T> {
  /** Validates a packet and passes it to its handler. Attempts are recorded in the order of the calls. The promise never rejects. */
  readonly dispatch: (packet: string | Packet, context?: DispatchContext) => Promise<DispatchResult<T>>;
}

const MAX_LOGGED = 4096;
const MAX_NAME = 256;

/**
 * Creates a dispatcher, which protects the code that acts on packets. It validates each packet by the rules of the draft, rejects replays
 * if there is a guard, records every attempt before it calls the handler, including rejected ones, and records the outcome. A packet that
 * cannot be recorded is not handled. Source: draft-mackay-aacp-01, sections 7 and 15.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const { dispatch } = createDispatcher({ audit, handlers: { 'FETCH|HR': (packet) => fetchRecords(packet) } });
 * const result = await dispatch(received, { actor: 'planner' });
 */
export function createDispatcher<T>(options: DispatcherOptions<T>): Dispatcher<T> {
  checkOptions(options);
  const route = resolveRoute(options);
  const { audit, replay, onWarning } = options;
  if (audit === undefined) throw new TypeError('audit is required: pass a log, or null for none');
  if (audit !== null) checkMethod('audit', audit, 'append');
  checkMethod('replay', replay, 'admit');
  if (onWarning !== undefined && typeof onWarning !== 'function') throw new TypeError('onWarning must be a function');
  const settings = validation(options);
  // Reports invalid options now, not with the first packet.
  validatePacket('', settings);

  async function dispatch(input: string | Packet, given?: DispatchContext): Promise<DispatchResult<T>> {
    const context = given ?? {};
    const { valid, packet: read, errors, warnings } = validatePacket(input, settings);
    const fault = context.exact === true && typeof input === 'string' ? exactFault(input, valid ? read : null) : null;
    if (fault !== null || !valid || read === null) {
      const text = typeof input === 'string' ? input : jsonOf(input);
      const codes = codesOf([...errors, ...warnings]);
      const entry = { ...entryOf(context), packet: text.slice(0, MAX_LOGGED), length: text.length, codes };
      return refused(fault ?? 'invalid', entry, { errors, warnings });
    }
    const packet = withLowerKeys(read);
    warn(packet, warnings);
    const text = canonicalText(packet);
    const hash = packetHash(packet);
    const known = { packet: text, length: text.length, hash, verdict: 'valid', codes: codesOf(warnings) } as const;
    const entry: AuditEntry = { ...entryOf(context), ...known };
    const handler = route(packet);
    if (handler === null) return refused('no-handler', entry, { errors, warnings });
    const admission = admitted(context);
    if (!admission.ok) {
      const result = await refused(admission.reason, entry, { errors, warnings });
      return 'error' in admission ? { ...result, error: admission.error } : result;
    }

    const attempt = await record({ ...entry, event: 'handed-over' });
    if (attempt.error !== null) {
      admission.release();
      return { ok: false, reason: 'no-audit', hash, errors, warnings, auditError: attempt.error };
    }
    try {
      const value = await handler(packet, { warnings, hash, context });
      const { error } = await record({ ...entry, event: 'done', attempt: attempt.seq });
      return { ok: true, value, hash, errors, warnings, auditError: error };
    } catch (thrown) {
      const outcome = await record({ ...entry, event: 'failed', reason: messageOf(thrown), attempt: attempt.seq });
      return { ok: false, reason: 'failed', hash, error: thrown, errors, warnings, auditError: outcome.error };
    }
  }

  function admitted({ envelope }: DispatchContext): Admission | { ok: false; reason: 'no-verdict'; error: unknown } {
    try {
      return replay?.admit(envelope) ?? { ok: true, release: () => {} };
    } catch (error) {
      return { ok: false, reason: 'no-verdict', error };
    }
  }

  async function refused(
    reason: DispatchReason,
    entry: AuditEntry,
    found: Pick<DispatchFinding, 'errors' | 'warnings'>,
  ): Promise<Refusal> {
    const { error } = await record({ ...entry, event: 'refused', reason });
    return { ok: false, reason, hash: entry.hash, ...found, auditError: error };
  }

  /** Appends a record. Returns its number, or the error of the log. */
  async function record(entry: AuditEntry): Promise<{ readonly seq: number | null; readonly error: unknown }> {
    if (audit === null) return { seq: null, error: null };
    try {
      return { seq: (await audit.append(entry)).seq, error: null };
    } catch (error) {
      return { seq: null, error: error ?? new Error('the log failed without an error') };
    }
  }

  function warn(packet: Packet, warnings: readonly PacketDiagnostic[]): void {
    for (const warning of warnings) {
      try {
        onWarning?.(warning, packet);
      } catch {
        // Warnings must not prevent transmission (section 7).
      }
    }
  }

  return { dispatch };
}

function validation<T>({ maxLength, maxItems, privateKeys, refuse = [] }: DispatcherOptions<T>): ValidateOptions {
  if (!Array.isArray(refuse)) throw new TypeError('refuse must be a list of codes');
  for (const code of refuse) resolveChoice('a code in refuse', code, Object.keys(RULES) as ValidationCode[]);
  const severities = Object.fromEntries((refuse as readonly ValidationCode[]).map((code) => [code, 'error' as const]));
  return { profile: 'draft', maxLength, maxItems, privateKeys, severities };
}

function checkMethod(option: string, value: unknown, method: string): void {
  if (value === undefined) return;
  if (typeof (value as Record<string, unknown> | null)?.[method] === 'function') return;
  throw new TypeError(`${option} must have a method ${method}`);
}

function withLowerKeys({ kind, task, domain, fields }: Packet): Packet {
  return { kind, task, domain, fields: fields.map(({ key, value }) => ({ key: lowerAscii(key), value })) };
}

function entryOf({ actor, envelope }: DispatchContext): AuditEntry {
  return {
    event: 'refused',
    packet: '',
    length: 0,
    hash: null,
    verdict: 'invalid',
    codes: [],
    reason: null,
    attempt: null,
    actor: nameIn(actor),
    nonce: nameIn(envelope?.nonce),
  };
}

function jsonOf(tree: unknown): string {
  try {
    return JSON.stringify(tree) ?? '';
  } catch {
    return '';
  }
}

function nameIn(name: unknown): string | null {
  return typeof name === 'string' ? name.slice(0, MAX_NAME) : null;
}

function codesOf(diagnostics: readonly PacketDiagnostic[]): readonly string[] {
  return [...new Set(diagnostics.map(({ code }) => code))];
}

function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown).slice(0, MAX_LOGGED);
  } catch {
    return 'an error that cannot be converted to a string';
  }
}

const OPTIONS = 'handlers deliver audit replay privateKeys refuse onWarning maxLength maxItems'.split(' ');

/** Rejects misspelt options: with a misspelt guard, packets would not be guarded. */
function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('options must be an object with handlers or deliver');
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown option ${unknown}; the options are ${OPTIONS.join(', ')}`);
}

/** Data that arrives with a packet, but outside of it. */
export interface DispatchContext {
  /** The sender of the packet, for the log. */
  readonly actor?: string | undefined;
  /** The nonce and the time of the packet, for the replay guard. */
  readonly envelope?: Envelope | undefined;
  /** If true, a text must be exactly one packet, without other text around it, line ends or hidden characters. @default false */
  readonly exact?: boolean | undefined;
  /** Any other data for the handler. It is not recorded. */
  readonly data?: unknown;
}

/** The second argument of a handler. */
export interface Delivery {
  /** The warnings of the validator. */
  readonly warnings: readonly PacketDiagnostic[];
  /** The `packetHash` of the packet. */
  readonly hash: string;
  /** The context that was passed to `dispatch`. */
  readonly context: DispatchContext;
}

/** Acts on a valid packet, whose keys are in lower case. */
export type Handler<T> = (packet: Packet, delivery: Delivery) => T | Promise<T>;

/** Handlers by `TASK|DOM`. A `*` on either side matches any word. The most specific one is called; an exact TASK precedes an exact DOM. */
export type Handlers<T> = Readonly<Record<string, Handler<T>>>;

/** The options that select a handler. */
export interface HandlerOptions<T> {
  /** Handlers by TASK and DOM. */
  readonly handlers?: Handlers<T> | undefined;
  /** One handler for all packets, instead of `handlers`. */
  readonly deliver?: Handler<T> | undefined;
}

type Route<T> = (packet: Packet) => Handler<T> | null;

function resolveRoute<T>({ handlers, deliver }: HandlerOptions<T>): Route<T> {
  if ((handlers === undefined) === (deliver === undefined)) throw new TypeError('pass either handlers or deliver');
  if (deliver !== undefined) {
    if (typeof deliver !== 'function') throw new TypeError('deliver must be a function');
    return () => deliver;
  }
  if (typeof handlers !== 'object' || handlers === null) {
    throw new TypeError("handlers must be an object: { 'FETCH|HR': (packet) => ... }");
  }
  const known = new Map(Object.entries(handlers));
  for (const [route, handler] of known) {
    if (!/^[^|]+\|[^|]+$/.test(route))
      throw new TypeError(`handlers['${route}'] must have the form TASK|DOM, where "*" matches any word`);
    if (typeof handler !== 'function') throw new TypeError(`handlers['${route}'] must be a function`);
  }
  return ({ task, domain }) =>
    [`${task}|${domain}`, `${task}|*`, `*|${domain}`, '*|*'].map((route) => known.get(route)).find(Boolean) ?? null;
}
