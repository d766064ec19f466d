/** `pegwire connect` over a WebSocket. */
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
import { channelSocket } from '../../../channels/channel-socket.js';
import { dialAddress } from '../../../channels/node/addresses.js';
import { closeWebSocket } from '../../../channels/websocket.js';
import { PegwireError } from '../../../text/errors.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import { messageOf, StreamReaders } from '../../session/results.js';
import type { Received } from './received.js';
import {
  connectionSender,
  headersOf,
  messageOfFrame,
  type Outgoing,
  Outstanding,
  requiresAnswer,
  type Sender,
  type SenderOptions,
} from './sender.js';

const RECONNECT = { maxAttempts: 5, maxDelayMs: 2000 };
const freshId = createIds();

/** Creates a sender over a WebSocket with a session, which reconnects. */
export async function webSocketSender(options: SenderOptions, received: Received): Promise<Sender> {
  const session = createSession({ agent: options.agent, sequence: 'sender' });
  const streams = new StreamReaders(session);
  const outstanding = new Outstanding();
  const onDecoded = (frame: string, outcome: DecodeOutcome): void => {
    const message = messageOf(outcome);
    if (outcome.outcome === 'pending' && outcome.part === 'stream') streams.read(outcome.correlationId);
    void received.frame(frame, message, true);
    if (outcome.outcome === 'rejected') void received.rejected(outcome.error);
    outstanding.receive(message);
  };
  let link: Link;
  try {
    link = await connectWebSocket(() => socketTo(options), {
      ...{ codec: observed(createCodec({ state: false }), onDecoded), session, reconnect: RECONNECT },
      handshakeTimeoutMs: options.timeoutMs,
      onState: (state, cause) => {
        if (state === 'reconnecting')
          void received.note('reconnecting', `${cause?.message ?? ''} Reconnecting.`.trim());
      },
    });
  } catch (thrown) {
    session.close();
    throw unreachable(thrown);
  }
  // Frames are printed when they are decoded, so the messages only need to be consumed.
  void drained(link);

  const send = async (outgoing: Outgoing): Promise<void> => {
    const message = messageToSend(outgoing);
    if (outgoing.kind === 'frame')
      await received.note(
        'sent-as-message',
        'The frame is sent as a message of this session, with new numbers.',
        'note',
      );
    const chain = message.envelope!.correlation_id!;
    try {
      // Before sending: the answer may arrive before `send` resolves.
      if (requiresAnswer(message)) outstanding.add(chain, chain);
      const { frames, losses } = await link.send(message);
      await received.lost(losses);
      for (const frame of frames) await received.sent(frame);
    } catch (thrown) {
      outstanding.remove(chain);
      throw thrown instanceof LinkError ? unreachable(thrown) : thrown;
    }
  };
  const stop = async (): Promise<void> => {
    await link.close();
    session.close();
  };
  const broken = link.closed.then((error) => {
    // Closed by this side, which is not an error.
    return error === undefined ? new Promise<never>(() => {}) : Promise.reject(unreachable(error));
  });
  return connectionSender({ send, broken, stop }, outstanding, options, received);
}

/** Connects to a WebSocket, or over the channel of another address. */
function socketTo(options: SenderOptions): WebSocketLike {
  const { url, token } = options;
  if (!/^wss?:/.test(url)) return channelSocket(dialAddress(url, { protocol: SUBPROTOCOL, token })());
  const settings = { headers: headersOf(options), handshakeTimeout: Math.min(options.timeoutMs, LONGEST_TIMER) };
  return new WebSocket(url, SUBPROTOCOL, settings) as WebSocketLike;
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

/** Converts a frame to a message of this session. It gets new numbers, but keeps its correlation identifier. */
function messageToSend(outgoing: Outgoing): MessageInput {
  if (outgoing.kind === 'message') return inChain(outgoing.message);
  parseFrame(outgoing.frame, { dialect: 'lenient' });
  const message = messageOfFrame(outgoing.frame);
  if (message === null)
    throw new PegwireError({
      code: 'no-message',
      message: 'The frame is only part of a message, so the session cannot send it.',
      help: 'send it unchanged with --raw',
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
  const hint = /\b401\b/.test(thrown.message) ? '; check --token' : '';
  return new UsageError(`${thrown.message.replace(/\.$/, '')}${hint}`, 'unreachable');
}

/** Normal closure (RFC 6455, section 7.4.1). */
const NORMAL_CLOSURE = 1000;

/** Creates a sender over a WebSocket without a session, for `--raw`. */
export async function rawSender(options: SenderOptions, received: Received): Promise<Sender> {
  const socket = socketTo(options);
  const outstanding = new Outstanding();
  // The first frames may arrive with the handshake, before `open`.
  socket.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string') {
      void received.note('binary', `Ignored a binary message of ${(data as Buffer).length} bytes.`);
      return;
    }
    const message = messageOfFrame(data);
    void received.frame(data, message, false);
    outstanding.receive(message);
  });
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    socket.addEventListener('close', resolve);
  });
  let isOpen = false;
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => {
      isOpen = true;
      resolve();
    });
    socket.addEventListener('error', (event) => {
      const { error } = event as { readonly error?: unknown };
      if (isOpen) void received.note('connection', systemReason(error));
      else reject(unreachable(new Error(systemReason(error), { cause: error })));
    });
  });
  let isEnding = false;
  const broken = closed.then(({ code, reason }) => {
    if (isEnding) return new Promise<never>(() => {});
    throw new UsageError(`The server closed the connection with ${code} ${reason}`.trim(), 'unreachable');
  });
  const stop = async (): Promise<void> => {
    isEnding = true;
    closeWebSocket(socket, NORMAL_CLOSURE);
    await closed;
  };
  const send = async (outgoing: Outgoing): Promise<void> => {
    if (outgoing.kind !== 'frame') throw new TypeError('Lines are sent unchanged with --raw');
    const message = messageOfFrame(outgoing.frame);
    if (message !== null && requiresAnswer(message)) {
      const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
      outstanding.add(mid, cid);
    }
    socket.send(outgoing.frame);
  };
  return connectionSender({ send, broken, stop }, outstanding, options, received);
}
