/** A client that sends and receives single messages over a channel, to test a runtime by its messages. */

import { type Envelope, type MessageType, newId, parseEnvelope } from '../../../src/arcp/index.js';
import type { Runtime } from '../../../src/arcp/runtime/index.js';
import type { Channel } from '../../../src/channels/channel.js';
import { memoryChannels } from '../../../src/channels/memory.js';

export const CAPABILITIES = { streaming: true, durable_jobs: true, checkpoints: true, agent_handoff: true };

type Fields = Readonly<Record<string, unknown>>;

export class Wire {
  readonly channel: Channel;
  /** All received messages, in order. */
  readonly heard: Envelope[] = [];
  sessionId: string | undefined;
  hasEnded = false;
  answersPings = true;
  #wake: (() => void)[] = [];

  constructor(channel: Channel) {
    this.channel = channel;
    channel.start({
      text: (text) => {
        const message = parseEnvelope(text);
        this.heard.push(message);
        if (message.type === 'ping' && this.answersPings) this.pong(message);
        this.#changed();
      },
      invalid: (why) => {
        throw new Error(why);
      },
      tooLong: () => {
        throw new Error('too long');
      },
      ended: () => {
        this.hasEnded = true;
        this.#changed();
      },
    });
  }

  /** Sends a message, and returns it. */
  send(type: string, payload: Fields = {}, more: Fields = {}): Fields & { readonly id: string } {
    const session = this.sessionId === undefined ? {} : { session_id: this.sessionId };
    const message = {
      arcp: '1.0',
      id: newId('msg'),
      type,
      timestamp: new Date().toISOString(),
      ...session,
      ...more,
      payload,
    };
    this.channel.send(JSON.stringify(message));
    return message;
  }

  pong({ id }: Envelope): void {
    this.send('pong', { ack_for: id, received_at: new Date().toISOString() }, { correlation_id: id });
  }

  /** Returns the first matching message, which may already have arrived. */
  async until(is: (message: Envelope) => boolean, from = 0): Promise<Envelope> {
    for (;;) {
      const found = this.heard.slice(from).find(is);
      if (found !== undefined) return found;
      if (this.hasEnded) throw new Error(`It has ended. Heard: ${this.types().join(' ')}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Returns the first message of a type that answers another. */
  async answer<T extends MessageType>(type: T, { id }: { readonly id: string }): Promise<Envelope<T>> {
    const message = await this.until((one) => one.type === type && one.correlation_id === id);
    return message as Envelope<T>;
  }

  async ended(): Promise<void> {
    while (!this.hasEnded) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Returns the messages of a job, in order. */
  ofJob(jobId: string): Envelope[] {
    return this.heard.filter(({ job_id }) => job_id === jobId);
  }

  types(messages: readonly Envelope[] = this.heard): string[] {
    return messages.map(({ type }) => type);
  }

  async open(payload: Fields = {}, more: Fields = {}): Promise<Envelope<'session.accepted'>> {
    const accepted = await this.answer(
      'session.accepted',
      this.send('session.open', { capabilities: CAPABILITIES, ...payload }, more),
    );
    this.sessionId = accepted.payload.session_id;
    return accepted;
  }

  /** Starts a tool as a job. */
  async startJob(tool: string, payload: Fields = {}): Promise<{ readonly id: string; readonly jobId: string }> {
    const { id } = this.send('tool.invoke', { tool, ...payload });
    const accepted = await this.answer('job.accepted', { id });
    return { id, jobId: accepted.payload.job_id! };
  }

  /** Returns the last message of a job. */
  untilEnded(jobId: string): Promise<Envelope> {
    return this.until(({ type, job_id }) => job_id === jobId && /^job\.(completed|failed|cancelled)$/.test(type));
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** Connects to a runtime in this process. */
export function connectTo(runtime: Runtime): Wire {
  const [here, there] = memoryChannels();
  void runtime.accept(there);
  return new Wire(here);
}

/** Creates a promise with the function that resolves it. */
export function deferred<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
