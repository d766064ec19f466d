/** `pegwire connect` over HTTP: each frame is a request. */
import { readHead } from '../../../accp/bindings/frames.js';
import { HttpBindingError, streamFrames } from '../../../accp/bindings/http/index.js';
import { createCodec } from '../../../accp/codec/codec.js';
import type { MessageInput } from '../../../accp/message/message.js';
import { createSession } from '../../../accp/session/session.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import { messageOf, repliesOf, StreamReaders } from '../../session/results.js';
import type { Received } from './received.js';
import { headersOf, messageOfFrame, NEVER, requiresAnswer, type Sender, type SenderOptions } from './sender.js';

/** The maximum number of rounds of replies to replies, so that two sides cannot loop forever. */
const MAX_ROUNDS = 8;

/** This frame is too large; others may be accepted (RFC 9110, section 15.5.14). */
const TOO_LARGE = 413;

/** Handles a frame of a response, and returns the replies to send. */
type Receive = (frame: string) => readonly string[];

/** Creates a sender over HTTP. */
export function httpSender(options: SenderOptions, received: Received): Sender {
  const codec = createCodec({ state: false });
  const session = createSession({ agent: options.agent, sequence: 'sender' });
  const streams = new StreamReaders(session);
  const posting = { timeoutMs: options.timeoutMs, headers: headersOf(options) };
  let isAnnounced = false;

  const receiveOwn: Receive = (frame) => {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'pending' && outcome.part === 'stream') streams.read(outcome.correlationId);
    void received.frame(frame, messageOf(outcome), true);
    if (outcome.outcome === 'rejected') void received.rejected(outcome.error);
    // A server that sends no frames would not understand an error frame.
    return readHead(frame) === null ? [] : repliesOf(outcome);
  };

  const receiveOther: Receive = (frame) => {
    void received.frame(frame, messageOfFrame(frame), false);
    return [];
  };

  const post = async (frames: readonly string[], receive: Receive): Promise<void> => {
    let outgoing = frames;
    for (let round = 0; outgoing.length > 0 && round < MAX_ROUNDS; round++) {
      const replies: string[] = [];
      for (const frame of outgoing)
        for await (const answer of streamFrames(options.url, frame, posting)) replies.push(...receive(answer));
      outgoing = replies;
    }
  };

  const request = async (frames: readonly string[], isRequest: boolean, receive: Receive): Promise<void> => {
    const before = received.frames;
    try {
      await post(frames, receive);
    } catch (thrown) {
      await failed(thrown, received);
      return;
    }
    if (isRequest && received.frames === before) await received.unanswered('The request was not answered.');
  };

  const sendMessage = async (message: MessageInput): Promise<void> => {
    if (!isAnnounced) {
      isAnnounced = true;
      // The registry allows strings with any characters.
      await request(codec.announce(session).frames, false, receiveOwn);
    }
    const { frames, losses } = codec.encode(message, session);
    await received.lost(losses);
    for (const frame of frames) await received.sent(frame);
    await request(frames, requiresAnswer(message), receiveOwn);
  };

  return {
    send: async (outgoing) => {
      if (outgoing.kind === 'message') await sendMessage(outgoing.message);
      else await request([outgoing.frame], requiresAnswer(readHead(outgoing.frame) ?? { intent: '' }), receiveOther);
    },
    broken: NEVER,
    end: async () => session.close(),
    stop: async () => session.close(),
  };
}

/** Handles the error of a request. @throws UsageError if the endpoint cannot be used @throws HttpBindingError if this frame is too large */
async function failed(thrown: unknown, received: Received): Promise<void> {
  if (!(thrown instanceof HttpBindingError) || thrown.status === TOO_LARGE) throw thrown;
  const { code, message, status, cause } = thrown;
  if (code === 'timeout' || code === 'truncated' || code === 'too-large') {
    await received.unanswered(message);
    return;
  }
  const reason = code === 'unreachable' ? `: ${systemReason(cause)}` : '';
  const text = `${message.replace(/\.$/, '')}${reason}`.replace(/\.$/, '');
  throw new UsageError(status === 401 ? `${text}; check --token` : text, 'unreachable');
}
