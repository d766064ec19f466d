/** A connection to a runtime that is checked, with a record of its messages. */
import { after } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import type { MessageType } from '../protocol/catalogue.js';
import { tryParseEnvelope } from '../protocol/codec.js';
import { ARCP_VERSION, type Envelope } from '../protocol/envelope.js';
import { formatTimestamp, newId, newSpanId, newTraceId } from '../protocol/ids.js';

export class Mismatch extends Error {
  override name = 'Mismatch';
}

export function assertThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Mismatch(message);
}

export type Fields = Readonly<Record<string, unknown>>;

export type Sent = Fields & { readonly id: string; readonly type: string };

const SETTLE_MS = 200;
const MAX_LINE = 2000;

export class Probe {
  readonly received: Envelope[] = [];
  readonly transcript: string[] = [];
  readonly invalidMessages: string[] = [];
  readonly log: Envelope[] = [];
  sessionId: string | undefined;
  hasEnded = false;
  readonly #channel: Channel;
  readonly #timeoutMs: number;
  #wake: (() => void)[] = [];

  constructor(channel: Channel, timeoutMs: number) {
    this.#channel = channel;
    this.#timeoutMs = timeoutMs;
    channel.start({
      text: (text) => this.#receive(text),
      invalid: (why) => this.#reportInvalid(why),
      tooLong: (limit) => this.#reportInvalid(`A message is longer than ${limit} bytes`),
      ended: () => {
        this.hasEnded = true;
        this.#changed();
      },
    });
  }

  /** Sends a message. Members of `more` that are `undefined` are omitted from the envelope. */
  send(type: string, payload: Fields = {}, more: Fields = {}): Sent {
    const message: Sent = {
      arcp: ARCP_VERSION,
      id: newId('msg'),
      type,
      timestamp: formatTimestamp(Date.now()),
      source: 'client',
      session_id: this.sessionId,
      trace_id: newTraceId(),
      span_id: newSpanId(),
      ...more,
      payload,
    };
    const text = JSON.stringify(message);
    const result = tryParseEnvelope(text);
    if (result.ok) this.log.push(result.value);
    this.sendText(text);
    return message;
  }

  sendText(text: string): void {
    this.transcript.push(`> ${text.slice(0, MAX_LINE)}`);
    this.#channel.send(text);
  }

  async until<E extends Envelope>(is: (message: Envelope) => message is E, expected: string, from?: number): Promise<E>;
  async until(is: (message: Envelope) => boolean, expected: string, from?: number): Promise<Envelope>;
  async until(is: (message: Envelope) => boolean, expected: string, from = 0): Promise<Envelope> {
    const deadline = performance.now() + this.#timeoutMs;
    for (let at = from; ; ) {
      for (; at < this.received.length; at++) if (is(this.received[at]!)) return this.received[at]!;
      if (this.hasEnded) throw new Mismatch(`The connection ended before ${expected}`);
      if (performance.now() >= deadline) throw new Mismatch(`${expected} did not arrive within ${this.#timeoutMs} ms`);
      await this.#change(deadline - performance.now());
    }
  }

  async answer<T extends MessageType>(to: Sent, ...types: readonly T[]): Promise<Envelope<T>> {
    const isOne = ({ type, correlation_id }: Envelope): boolean =>
      correlation_id === to.id && (types as readonly string[]).includes(type);
    return (await this.until(isOne, `${types.join(' or ')} for ${to.type}`)) as Envelope<T>;
  }

  async refusal(of: Sent, ...codes: readonly string[]): Promise<Envelope<'nack'>> {
    const answered = await this.until(({ correlation_id }) => correlation_id === of.id, `an answer to ${of.type}`);
    if (answered.type !== 'nack')
      throw new Mismatch(`${of.type} was answered with ${answered.type} instead of a refusal`);
    expectCode(answered, codes);
    return answered;
  }

  async anyRefusal(from: number, ...codes: readonly string[]): Promise<Envelope<'nack'>> {
    const isNack = (one: Envelope): one is Envelope<'nack'> => one.type === 'nack';
    const nack = await this.until(isNack, 'a refusal', from);
    expectCode(nack, codes);
    return nack;
  }

  async ping(): Promise<void> {
    await this.answer(this.send('ping'), 'pong');
  }

  async settle(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(SETTLE_MS, this.#timeoutMs)));
  }

  disconnect(): void {
    this.#channel.destroy();
  }

  #receive(text: string): void {
    this.transcript.push(`< ${text.slice(0, MAX_LINE)}`);
    const result = tryParseEnvelope(text, { maxMessageBytes: Number.POSITIVE_INFINITY });
    if (result.ok) {
      const { value } = result;
      if (value.type === 'ping') this.#pong(value);
      this.received.push(value);
      this.log.push(value);
    } else this.invalidMessages.push(`${result.error.message}: ${text.slice(0, 200)}`);
    this.#changed();
  }

  #pong({ id }: Envelope): void {
    this.send('pong', { ack_for: id, received_at: formatTimestamp(Date.now()) }, { correlation_id: id });
  }

  #reportInvalid(why: string): void {
    this.invalidMessages.push(why);
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async #change(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = after(ms, resolve);
      this.#wake.push(() => {
        cancel();
        resolve();
      });
    });
  }
}

function expectCode({ payload: { code } }: Envelope<'nack'>, codes: readonly string[]): void {
  if (codes.length > 0 && !codes.includes(code))
    throw new Mismatch(`The refusal has the code ${code} instead of ${codes.join(' or ')}`);
}
