/** Relays messages between a client and an agent. They are unchanged, except that batches may be split. */
import { BatchReply } from '../../../acp/batches.js';
import {
  ErrorLimit,
  errorText,
  type Incoming,
  invalidTextError,
  MAX_BATCH,
  readIncoming,
  readPartially,
  tooLongRequest,
} from '../../../acp/codec.js';
import { ERROR_CODES } from '../../../acp/errors.js';
import type { Classified, Id } from '../../../acp/message.js';
import type { Channel } from '../../../channels/channel.js';
import { MAX_LINE_BYTES } from '../../../channels/line-decoder.js';

export type Side = 'client' | 'agent';

export interface RelayOptions {
  /** With `split`, the agent receives the entries of a batch one by one, and the client receives one array of responses. */
  readonly batches: 'split' | 'pass';
  /** Called with each text that is relayed, or sent by the relay itself. */
  readonly onMessage: (from: Side | 'pegwire', text: string) => void;
  /** Called with each text that is not a message, which is not relayed. */
  readonly onRejected: (from: Side, reason: string, text: string) => void;
  /** Called when a side has ended, with the error if it failed. */
  readonly onEnd: (side: Side, error: Error | undefined) => void;
}

type Done = (response: string) => void;

const READING = { maxBatch: MAX_BATCH, acceptsBatches: () => true };
const MAX_PENDING = 65_536;

export class Relay {
  readonly #client: Channel;
  readonly #agent: Channel;
  readonly #options: RelayOptions;
  /** Callbacks of pending requests, in order; `null` relays the response to the client. */
  readonly #pending = new Map<Id, (Done | null)[]>();
  #openBatches = 0;
  readonly #faults = new ErrorLimit();

  constructor(client: Channel, agent: Channel, options: RelayOptions) {
    this.#client = client;
    this.#agent = agent;
    this.#options = options;
  }

  start(): void {
    const { onRejected, onEnd } = this.#options;
    let agentFault: Error | undefined;
    this.#agent.start({
      text: (text) => this.#fromAgent(text),
      invalid: (why, beginning = '') => {
        onRejected('agent', why, '');
        this.#failAnswers(readPartially(beginning).answers);
      },
      tooLong: (limit, beginning = '') => {
        this.#failAnswers(readPartially(beginning).answers);
        agentFault = new Error(`a message exceeds ${limit} bytes`);
      },
      ended: (error) => {
        this.#failPending();
        onEnd('agent', agentFault ?? error);
      },
    });
    this.#client.start({
      text: (text) => this.#fromClient(text),
      invalid: (why, beginning = '') => {
        const { id } = readPartially(beginning);
        this.#answerFault(invalidTextError(ERROR_CODES.parseError, 'Parse error', id), ERROR_CODES.parseError, why, '');
      },
      tooLong: (limit, beginning = '') => {
        const answer = tooLongRequest(readPartially(beginning).id, limit);
        this.#answerFault(answer, ERROR_CODES.invalidRequest, `the message exceeds ${limit} bytes`, '');
      },
      ended: (error) => onEnd('client', error),
    });
  }

  #fromClient(text: string): void {
    const arrival = readIncoming(text, READING);
    if (arrival.kind === 'invalid-text') {
      const { rpcCode, reason } = arrival;
      this.#answerFault(invalidTextError(rpcCode, reason, arrival.partial.id), rpcCode, reason, text);
    } else if (arrival.kind === 'batch') this.#batch(arrival, text);
    else if (arrival.item.kind === 'invalid') {
      this.#answerFault(invalidText(arrival.item), ERROR_CODES.invalidRequest, arrival.item.reason, text);
    } else if (arrival.item.kind === 'malformed-response') this.#options.onRejected('client', 'invalid response', text);
    else {
      if (arrival.item.kind === 'request') this.#expect(arrival.item.message.id, null);
      this.#toAgent(text);
    }
  }

  #batch({ items }: Extract<Incoming, { kind: 'batch' }>, text: string): void {
    if (this.#options.batches === 'pass') {
      this.#toAgent(text);
      return;
    }
    const calls = items.filter(({ kind }) => kind !== 'response' && kind !== 'malformed-response');
    if (calls.length > 0) this.#openBatches++;
    const reply = new BatchReply(calls.length, MAX_LINE_BYTES, (answers) => this.#answer(answers, this.#agent));
    let remaining = calls.length;
    const done = (response: string | null, id?: Id): void => {
      if (--remaining === 0) this.#openBatches--;
      reply.done(response, id);
    };
    for (const [index, entry] of splitArray(text).entries()) this.#entry(items[index]!, entry, done);
  }

  #entry(item: Classified, text: string, done: (response: string | null, id?: Id) => void): void {
    switch (item.kind) {
      case 'request':
        this.#expect(item.message.id, (response) => done(response, item.message.id));
        this.#toAgent(text);
        break;
      case 'notification':
        this.#toAgent(text);
        done(null);
        break;
      case 'response':
        this.#toAgent(text);
        break;
      case 'malformed-response':
        this.#options.onRejected('client', 'invalid response', text);
        break;
      default:
        this.#options.onRejected('client', item.reason, text);
        done(invalidText(item));
    }
  }

  #expect(id: Id, done: Done | null): void {
    const pending = this.#pending.get(id);
    if (pending !== undefined) pending.push(done);
    else {
      this.#pending.set(id, [done]);
      if (this.#pending.size > MAX_PENDING) this.#forgetOldest();
    }
  }

  /** Forgets the oldest request that the agent has not answered; only the order of equal identifiers is lost. */
  #forgetOldest(): void {
    for (const [id, pending] of this.#pending) {
      if (pending.some((done) => done !== null)) continue;
      this.#pending.delete(id);
      return;
    }
  }

  #toAgent(text: string): void {
    this.#faults.reset();
    this.#options.onMessage('client', text);
    this.#agent.send(text);
    pauseWhileFull(this.#agent, this.#client);
  }

  #answerFault(answer: string, rpcCode: number, why: string, text: string): void {
    this.#options.onRejected('client', why, text);
    if (this.#faults.answers(rpcCode)) this.#answer(answer, this.#client);
  }

  /** Sends a text of the relay to the client. @param cause the side to pause while the client reads slowly */
  #answer(text: string, cause: Channel): void {
    this.#options.onMessage('pegwire', text);
    this.#client.send(text);
    pauseWhileFull(this.#client, cause);
  }

  #fromAgent(text: string): void {
    const arrival = readIncoming(text, READING);
    if (arrival.kind === 'invalid-text') {
      this.#options.onRejected('agent', arrival.reason, text);
      this.#failAnswers(arrival.partial.answers);
    } else if (arrival.kind === 'one') this.#oneFromAgent(arrival.item, text);
    else if (this.#openBatches === 0) this.#toClient(text);
    else for (const [index, entry] of splitArray(text).entries()) this.#oneFromAgent(arrival.items[index]!, entry);
  }

  #oneFromAgent(item: Classified, text: string): void {
    if (item.kind === 'invalid') {
      this.#options.onRejected('agent', item.reason, text);
      if (item.id === undefined) return;
      if (item.isCall === true) this.#agent.send(invalidText(item));
      else this.#failAnswers([item.id]);
    } else if (item.kind === 'malformed-response') {
      this.#options.onRejected('agent', 'invalid response', text);
      if (item.id !== undefined) this.#respond(item.id, errorText(item.id, NO_RESPONSE));
    } else if (item.kind === 'response') this.#respond(item.message.id, text);
    else this.#toClient(text);
  }

  /** Fails the requests whose responses cannot be read. */
  #failAnswers(ids: readonly Id[]): void {
    for (const id of ids) if (this.#pending.has(id)) this.#respond(id, errorText(id, NO_RESPONSE));
  }

  #respond(id: Id, text: string): void {
    const done = this.#takePending(id);
    if (done === undefined || done === null) this.#toClient(text);
    else {
      this.#options.onMessage('agent', text);
      done(text);
    }
  }

  #takePending(id: Id): Done | null | undefined {
    const pending = this.#pending.get(id);
    const done = pending?.shift();
    if (pending?.length === 0) this.#pending.delete(id);
    return done;
  }

  #toClient(text: string): void {
    this.#options.onMessage('agent', text);
    this.#client.send(text);
    pauseWhileFull(this.#client, this.#agent);
  }

  /** Completes open batches with errors once the agent has ended. */
  #failPending(): void {
    for (const [id, pending] of this.#pending)
      for (const done of pending)
        done?.(errorText(id, { code: ERROR_CODES.internalError, message: 'The agent has ended' }));
    this.#pending.clear();
  }
}

const NO_RESPONSE = { code: ERROR_CODES.internalError, message: 'The agent sent an invalid response' };

function invalidText({ reason, id }: Extract<Classified, { kind: 'invalid' }>): string {
  return invalidTextError(ERROR_CODES.invalidRequest, `Invalid request: ${reason}`, id);
}

/** Pauses `from` until `to` can accept more. */
function pauseWhileFull(to: Channel, from: Channel): void {
  const ready = to.ready();
  if (ready === undefined) return;
  from.pause();
  void ready.then(() => from.resume());
}

/** Splits a JSON array into the texts of its items. Parsing and printing them could lose digits. */
function splitArray(text: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let from = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isInString) {
      if (unit === BACKSLASH) at++;
      else if (unit === QUOTE) isInString = false;
      continue;
    }
    if (unit === QUOTE) isInString = true;
    // Brackets and braces differ in one bit.
    else if ((unit | 0x20) === OPEN && ++depth === 1) from = at + 1;
    else if ((unit | 0x20) === CLOSE) depth--;
    if (!(unit === COMMA && depth === 1) && !(depth === 0 && (unit | 0x20) === CLOSE)) continue;
    const item = text.slice(from, at).trim();
    if (item !== '') items.push(item);
    from = at + 1;
  }
  return items;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
