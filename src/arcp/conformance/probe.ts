/** One connection to a runtime that is checked: what is said on it, on both sides, and whether that is of the protocol. */
import type { Channel } from '../../channels/channel.js';
import type { MessageType } from '../protocol/catalogue.js';
import { tryParseEnvelope } from '../protocol/codec.js';
import { ARCP_VERSION, type Envelope } from '../protocol/envelope.js';
import { formatTimestamp, newId, newSpanId, newTraceId } from '../protocol/ids.js';

export class Mismatch extends Error {
  override name = 'Mismatch';
}

export function assertThat(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Mismatch(message);
}

export type Fields = Readonly<Record<string, unknown>>;

export type Sent = Fields & { readonly id: string; readonly type: string };

const AFTERMATH = 200;
const MOST = 2000;

export class Probe {
  readonly heard: Envelope[] = [];
  readonly transcript: string[] = [];
  readonly faults: string[] = [];
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
      text: (text) => this.#heard(text),
      invalid: (why) => this.#fault(why),
      tooLong: (limit) => this.#fault(`A message has more than ${limit} bytes`),
      ended: () => {
        this.hasEnded = true;
        this.#changed();
      },
    });
  }

  /** Sends a message. Members of `more` that are `undefined` are left out of the envelope. */
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
    this.transcript.push(`> ${text.slice(0, MOST)}`);
    this.#channel.send(text);
  }

  async until<E extends Envelope>(is: (message: Envelope) => message is E, what: string, from?: number): Promise<E>;
  async until(is: (message: Envelope) => boolean, what: string, from?: number): Promise<Envelope>;
  async until(is: (message: Envelope) => boolean, what: string, from = 0): Promise<Envelope> {
    const late = performance.now() + this.#timeoutMs;
    for (let at = from; ; ) {
      for (; at < this.heard.length; at++) if (is(this.heard[at]!)) return this.heard[at]!;
      if (this.hasEnded) throw new Mismatch(`The connection has ended before ${what}`);
      if (performance.now() >= late) throw new Mismatch(`${what} did not come within ${this.#timeoutMs} ms`);
      await this.#change(late - performance.now());
    }
  }

  async answer<T extends MessageType>(to: Sent, ...types: readonly T[]): Promise<Envelope<T>> {
    const isOne = ({ type, correlation_id }: Envelope): boolean =>
      correlation_id === to.id && (types as readonly string[]).includes(type);
    return (await this.until(isOne, `${types.join(' or ')} for ${to.type}`)) as Envelope<T>;
  }

  async refusal(of: Sent, ...codes: readonly string[]): Promise<Envelope<'nack'>> {
    const answered = await this.until(({ correlation_id }) => correlation_id === of.id, `an answer to ${of.type}`);
    if (answered.type !== 'nack') throw new Mismatch(`${of.type} is answered by ${answered.type}, and not refused`);
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

  async quiet(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(AFTERMATH, this.#timeoutMs)));
  }

  cut(): void {
    this.#channel.destroy();
  }

  #heard(text: string): void {
    this.transcript.push(`< ${text.slice(0, MOST)}`);
    const result = tryParseEnvelope(text, { maxMessageBytes: Number.POSITIVE_INFINITY });
    if (result.ok) {
      const { value } = result;
      if (value.type === 'ping') this.#pong(value);
      this.heard.push(value);
      this.log.push(value);
    } else this.faults.push(`${result.error.message}: ${text.slice(0, 200)}`);
    this.#changed();
  }

  #pong({ id }: Envelope): void {
    this.send('pong', { ack_for: id, received_at: formatTimestamp(Date.now()) }, { correlation_id: id });
  }

  #fault(why: string): void {
    this.faults.push(why);
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async #change(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
      this.#wake.push(resolve);
    });
    clearTimeout(timer);
  }
}

function expectCode({ payload: { code } }: Envelope<'nack'>, codes: readonly string[]): void {
  if (codes.length > 0 && !codes.includes(code))
    throw new Mismatch(`It is refused with ${code}, and not with ${codes.join(' or ')}`);
}
