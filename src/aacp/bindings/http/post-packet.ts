import { abortable, abortableBody, linkSignals } from '../../../async/abort.js';
import { assertDurations } from '../../../async/durations.js';
import { after, backoff, withJitter } from '../../../async/timers.js';
import { cancelBody, isUtf8Type, mediaTypeParameters, readBytes } from '../../../channels/body.js';
import { textOfBytes } from '../../../channels/media-type.js';
import type { Packet } from '../../ast.js';
import { type PacketAnswer, readAnswer } from '../answer.js';
import { PACKET_TYPE } from '../deliver.js';
import { AacpBindingError } from '../errors.js';
import { type Outgoing, type OutgoingOptions, prepareOutgoing } from '../outgoing.js';
import { HASH_HEADER, NONCE_HEADER, PROBLEM_TYPE, SENT_AT_HEADER, WARNINGS_HEADER } from './headers.js';

/** The platform's `fetch` or a replacement, such as `app.request` of a framework, which needs no socket. */
export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>;

/** Attempts of {@link postPacket} and the delays between them, which double. */
export interface RetryOptions {
  /** The maximum number of attempts, at least 1. @default 3 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds before the second attempt. @default 200 */
  readonly minDelayMs?: number | undefined;
  /** The maximum delay in milliseconds. @default 5000 */
  readonly maxDelayMs?: number | undefined;
}

/** Options of {@link postPacket}. */
export interface PostPacketOptions extends OutgoingOptions {
  /** The function that sends the request. @default the platform's `fetch` */
  readonly fetch?: Fetch | undefined;
  /** Aborts the exchange; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the request besides those of the binding, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Time limit of each attempt in milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** The maximum size of the answer, in bytes. @default 1048576 */
  readonly maxAnswerBytes?: number | undefined;
  /**
   * Sends the packet again, with the same nonce, if no answer arrives or the server cannot handle it now (503). Use it only with servers that
   * have a replay guard: others would handle the packet again. @default no retries
   */
  readonly retry?: RetryOptions | undefined;
}

/**
 * Validates a packet, posts it and returns the answer, which may be a refusal.
 *
 * @throws AacpBindingError `invalid-packet` before anything is sent; other codes if no answer arrives; `answer-lost` if an earlier attempt was
 * handled, but its answer was lost
 * @throws TypeError if an option is invalid
 * @example
 * const answer = await postPacket('http://127.0.0.1:8080/aacp/v1/packets', 'ACK|HR|return:HR-Agent|p:2|aacp:1.1');
 */
export async function postPacket(
  url: string | URL,
  packet: Packet | string,
  options: PostPacketOptions = {},
): Promise<PacketAnswer> {
  const settings = resolve(options);
  const outgoing = prepareOutgoing(packet, options);
  const { maxAttempts, minDelayMs, maxDelayMs, signal } = settings;
  let isUncertain = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await post(String(url), outgoing, settings);
      if (!answer.ok && answer.reason === 'repeated' && isUncertain)
        throw new AacpBindingError('answer-lost', 'An earlier attempt was handled, but its answer did not arrive.');
      if (answer.ok || !isRetryable(answer.reason) || attempt >= maxAttempts) return answer;
    } catch (thrown) {
      if (!isLost(thrown) || attempt >= maxAttempts) throw thrown;
      isUncertain = true;
    }
    await pause(withJitter(backoff(attempt, { minDelayMs, maxDelayMs })), signal);
  }
}

const LOST: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'truncated']);
/** Statuses of gateways that got no answer. */
const GATEWAY: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/** Tests whether it is unknown after an error if the packet was handled. */
function isLost(thrown: unknown): boolean {
  if (!(thrown instanceof AacpBindingError)) return false;
  return LOST.has(thrown.code) || (thrown.code === 'http-status' && GATEWAY.has(thrown.status));
}

const RETRYABLE: ReadonlySet<string> = new Set(['no-audit', 'no-verdict', 'guard-full']);

function isRetryable(reason: string): boolean {
  return RETRYABLE.has(reason);
}

type Settings = ReturnType<typeof resolve>;

function resolve({ signal, timeoutMs = 30_000, maxAnswerBytes = 2 ** 20, retry, ...rest }: PostPacketOptions) {
  const { maxAttempts = retry === undefined ? 1 : 3, minDelayMs = 200, maxDelayMs = 5000 } = retry ?? {};
  assertDurations({ timeoutMs });
  assertDurations({ minDelayMs, maxDelayMs }, 0);
  if (!(maxAttempts >= 1)) throw new TypeError(`maxAttempts must be a number >= 1; got ${maxAttempts}`);
  if (!(maxAnswerBytes >= 1)) throw new TypeError(`maxAnswerBytes must be a number >= 1; got ${maxAnswerBytes}`);
  const { fetch: send = fetch as Fetch, headers = {} } = rest;
  return { signal, timeoutMs, maxAnswerBytes, maxAttempts, minDelayMs, maxDelayMs, send, headers };
}

async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  let cancel = (): void => undefined;
  const waiting = new Promise<void>((resolveWait) => {
    cancel = after(delayMs, resolveWait);
  });
  try {
    await (signal === undefined ? waiting : abortable(waiting, signal));
  } finally {
    cancel();
  }
}

/** Makes one attempt within the time limit, even if `fetch` ignores the signal. */
async function post(url: string, outgoing: Outgoing, settings: Settings): Promise<PacketAnswer> {
  const timeout = new AbortController();
  const { timeoutMs } = settings;
  const stop = after(timeoutMs, () =>
    timeout.abort(new AacpBindingError('timeout', `No answer arrived within ${timeoutMs} ms.`)),
  );
  const { signal, release } = linkSignals(settings.signal ?? timeout.signal, timeout.signal);
  try {
    return await abortable(exchange(url, outgoing, settings, signal), signal);
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    stop();
    release();
  }
}

async function exchange(
  url: string,
  { packet, nonce, sentAt }: Outgoing,
  { send, headers: more, maxAnswerBytes }: Settings,
  signal: AbortSignal,
): Promise<PacketAnswer> {
  signal.throwIfAborted();
  const headers = new Headers(more);
  headers.set('content-type', PACKET_TYPE);
  headers.set('accept', `${PACKET_TYPE}, application/json`);
  headers.set(NONCE_HEADER, nonce);
  headers.set(SENT_AT_HEADER, String(sentAt));
  let response: Response;
  try {
    response = await send(url, { method: 'POST', headers, body: packet, redirect: 'manual', signal });
  } catch (cause) {
    throw new AacpBindingError('unreachable', 'No answer arrived.', { cause });
  }
  const { status } = response;
  const body = abortableBody(response.body, signal);
  try {
    return await readResponse(response, body, maxAnswerBytes);
  } catch (thrown) {
    if (body !== null && !body.locked) cancelBody(body);
    if (thrown instanceof AacpBindingError) throw thrown;
    throw new AacpBindingError('truncated', 'The connection closed in the middle of the answer.', {
      status,
      cause: thrown,
    });
  }
}

async function readResponse(
  { status, headers, type }: Response,
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<PacketAnswer> {
  const hash = headers.get(HASH_HEADER);
  const warnings = (headers.get(WARNINGS_HEADER) ?? '').split(/, */).filter((code) => code !== '');
  if (status === 204 && hash !== null) return { ok: true, hash, warnings };
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    throw new AacpBindingError('redirected', 'The server redirects to another address; use that address.', { status });
  const contentType = headers.get('content-type');
  const isProblem = mediaTypeParameters(contentType, PROBLEM_TYPE) !== null;
  const isPacket = status === 200 && isUtf8Type(contentType, PACKET_TYPE);
  const isValue = status === 200 && mediaTypeParameters(contentType, 'application/json') !== null;
  if (status !== 200 && !isProblem)
    throw new AacpBindingError('http-status', `The server responded with status ${status}.`, { status });
  const bytes = body === null ? new Uint8Array() : await readBytes(body.getReader(), maxBytes);
  if (bytes === null)
    throw new AacpBindingError('too-large', `An answer must not exceed ${maxBytes} bytes.`, { status });
  const text = textOfBytes(bytes);
  if (text !== null && isPacket && hash !== null) return { ok: true, hash, packet: text, warnings };
  const json = text === null ? undefined : parseJson(text);
  if (isValue && hash !== null && json !== undefined) return { ok: true, hash, value: json, warnings };
  const answer = isProblem ? readAnswer(json) : null;
  if (answer === null || answer.ok)
    throw new AacpBindingError('not-aacp', 'The server did not answer in AACP.', { status });
  return answer;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
