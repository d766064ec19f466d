/** `pegwire connect` over a WebSocket that reconnects. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import {
  connectWebSocket,
  type Link,
  LinkError,
  SUBPROTOCOL,
  type WebSocketLike,
} from '../../../accp/bindings/websocket/index.js';
import { type Codec, createCodec } from '../../../accp/codec/codec.js';
import type { DecodeOutcome } from '../../../accp/codec/contract.js';
import type { MessageInput } from '../../../accp/message/message.js';
import { parseFrame } from '../../../accp/parse.js';
import { createIds } from '../../../accp/session/runtime.js';
import { createSession } from '../../../accp/session/session.js';
import { LONGEST_TIMER } from '../../../async/timers.js';
import { closeWebSocket } from '../../../channels/websocket.js';
import { PegwireError } from '../../../text/errors.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import { messageOf, StreamReaders } from '../../session/results.js';
import type { Received } from './received.js';
import {
  headersOf,
  isAsking,
  lastingSender,
  messageOfFrame,
  type Outgoing,
  Outstanding,
  type Sender,
  type SenderOptions,
} from './sender.js';

const RECONNECT = { maxAttempts: 5, maxDelayMs: 2000 };
const freshId = createIds();

export async function webSocketSender(options: SenderOptions, received: Received): Promise<Sender> {
  const session = createSession({ agent: options.agent, sequence: 'sender' });
  const streams = new StreamReaders(session);
  const outstanding = new Outstanding();
  const onDecoded = (frame: string, outcome: DecodeOutcome): void => {
    const message = messageOf(outcome);
    if (outcome.outcome === 'pending' && outcome.part === 'stream') streams.read(outcome.correlationId);
    void received.frame(frame, message, true);
    if (outcome.outcome === 'rejected') void received.refused(outcome.error);
    outstanding.arrived(message);
  };
  let link: Link;
  try {
    link = await connectWebSocket(() => socketTo(options), {
      ...{ codec: observed(createCodec({ state: false }), onDecoded), session, reconnect: RECONNECT },
      handshakeTimeoutMs: options.timeoutMs,
      onState: (state, cause) => {
        if (state === 'reconnecting') void received.note('reconnecting', `${cause?.message ?? ''} Trying again.`);
      },
    });
  } catch (thrown) {
    session.close();
    throw unreachable(thrown);
  }
  // They are shown as they come.
  void drained(link);

  const send = async (outgoing: Outgoing): Promise<void> => {
    const message = messageToSend(outgoing);
    if (outgoing.kind === 'frame')
      await received.note('sent-as-message', 'The frame goes out as a message of this session.');
    const chain = message.envelope!.correlation_id!;
    try {
      // Before sending: the answer may arrive before `send` resolves.
      if (isAsking(message)) outstanding.asked(chain, chain);
      const { frames, losses } = await link.send(message);
      await received.lost(losses);
      for (const frame of frames) await received.sent(frame);
    } catch (thrown) {
      outstanding.forget(chain);
      throw thrown instanceof LinkError ? unreachable(thrown) : thrown;
    }
  };
  const stop = async (): Promise<void> => {
    await link.close();
    session.close();
  };
  const broken = link.closed.then((error) => {
    // Closed here, which is not an error.
    return error === undefined ? new Promise<never>(() => {}) : Promise.reject(unreachable(error));
  });
  return lastingSender({ send, broken, stop }, outstanding, options, received);
}

function socketTo(options: SenderOptions): WebSocketLike & WebSocket {
  const settings = { headers: headersOf(options), handshakeTimeout: Math.min(options.timeoutMs, LONGEST_TIMER) };
  return new WebSocket(options.url, SUBPROTOCOL, settings) as WebSocketLike & WebSocket;
}

function observed(codec: Codec, onDecoded: (frame: string, outcome: DecodeOutcome) => void): Codec {
  return {
    ...codec,
    decode: (frame, session) => {
      const outcome = codec.decode(frame, session);
      onDecoded(frame, outcome);
      return outcome;
    },
  };
}

/** A frame becomes a message of this session, which has its own numbers; sent again, it keeps its correlation identifier. */
function messageToSend(outgoing: Outgoing): MessageInput {
  if (outgoing.kind === 'message') return inChain(outgoing.message);
  parseFrame(outgoing.frame, { dialect: 'lenient' });
  const message = messageOfFrame(outgoing.frame);
  if (message === null)
    throw new PegwireError({
      code: 'no-message',
      message: 'The frame cannot be a message of this session; see --raw.',
    });
  const { intent, operation, schema, payload, envelope } = message;
  const { correlation_id, msg_id } = envelope;
  return inChain({ intent, operation, schema, payload, envelope: { correlation_id: correlation_id ?? msg_id } });
}

function inChain({ envelope, ...rest }: MessageInput): MessageInput {
  return { ...rest, envelope: { ...envelope, correlation_id: envelope?.correlation_id ?? freshId() } };
}

async function drained({ messages }: Link): Promise<void> {
  try {
    for await (const _ of messages);
  } catch {
    // Reported by `broken`.
  }
}

function unreachable(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const hint = /\b401\b/.test(thrown.message) ? '; it wants another --token' : '';
  return new UsageError(`${thrown.message.replace(/\.$/, '')}${hint}`, 'unreachable');
}

// --raw: lines are sent unchanged.

/** RFC 6455, section 7.4.1. */
const NORMAL = 1000;

export async function rawSender(options: SenderOptions, received: Received): Promise<Sender> {
  const socket = socketTo(options);
  const outstanding = new Outstanding();
  // Before it opens: the first frames may come with the handshake.
  socket.on('message', (data, isBinary) => {
    const frame = String(data);
    if (isBinary) {
      void received.note('binary', `A binary message came, of ${(data as Buffer).length} bytes.`);
      return;
    }
    const message = messageOfFrame(frame);
    void received.frame(frame, message, false);
    outstanding.arrived(message);
  });
  const closed = new Promise<[code: number, reason: Buffer]>((resolve) => {
    socket.once('close', (...how) => resolve(how));
  });
  try {
    await once(socket, 'open');
  } catch (thrown) {
    throw unreachable(new Error(systemReason(thrown), { cause: thrown }));
  }
  socket.on('error', (error) => void received.note('connection', systemReason(error)));
  let isEnding = false;
  const broken = closed.then(([code, reason]) => {
    if (isEnding) return new Promise<never>(() => {});
    throw new UsageError(
      `The other side has closed the connection with ${code} ${String(reason)}`.trim(),
      'unreachable',
    );
  });
  const stop = async (): Promise<void> => {
    isEnding = true;
    closeWebSocket(socket, NORMAL);
    await closed;
  };
  const send = async (outgoing: Outgoing): Promise<void> => {
    if (outgoing.kind !== 'frame') throw new TypeError('Raw lines are sent as frames');
    const message = messageOfFrame(outgoing.frame);
    if (message !== null && isAsking(message)) {
      const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
      outstanding.asked(mid, cid);
    }
    socket.send(outgoing.frame);
  };
  return lastingSender({ send, broken, stop }, outstanding, options, received);
}
