/** Records the messages of channels, endpoints and routes, and sends messages into them. */
import type { Endpoint } from '../accp/bindings/endpoint.js';
import type { FrameAnswer } from '../accp/bindings/frames.js';
import type { Runtime } from '../arcp/runtime/index.js';
import type { Channel, Receiver } from '../channels/channel.js';
import type { Feed, Inject, Line, Side } from './feed.js';

/**
 * Returns a channel that records its messages. The inspector can send messages in both directions.
 *
 * @param about describes the connection
 * @param peer the side at the other end of the channel
 */
export function tapChannel(channel: Channel, feed: Feed, about: string, peer: 'client' | 'server'): Channel {
  const here = peer === 'client' ? 'server' : 'client';
  let receiver: Receiver | undefined;
  const inject: Inject = (text, side) => {
    feed.own(line.session, side, text);
    if (side === here) channel.send(text);
    else receiver?.text(text);
    return undefined;
  };
  const line = feed.open(about, inject);
  return {
    maxTextBytes: channel.maxTextBytes,
    start: (given) => {
      receiver = given;
      channel.start({
        text: (text, isUnterminated) => {
          line.record(peer, text);
          given.text(text, isUnterminated);
        },
        invalid: (reason, beginning) => {
          line.note(peer, `not a text: ${reason}`);
          given.invalid(reason, beginning);
        },
        tooLong: (limit, beginning) => {
          line.note(peer, `longer than ${limit} bytes`);
          given.tooLong(limit, beginning);
        },
        ended: (error) => {
          line.close(error?.message);
          given.ended(error);
        },
      });
    },
    send: (text) => {
      line.record(here, text);
      channel.send(text);
    },
    ready: () => channel.ready(),
    ...(channel.flushed === undefined ? {} : { flushed: () => channel.flushed!() }),
    backlog: () => channel.backlog(),
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    end: () => channel.end(),
    destroy: () => {
      line.close();
      channel.destroy();
    },
  };
}

/**
 * Returns an endpoint of ACCP that records its frames. Those of a WebSocket have the id of their session, others the name `http`. The inspector can
 * send frames as a client.
 */
export function tapEndpoint(endpoint: Endpoint, feed: Feed): Endpoint {
  const inject: Inject = async (text, side) => {
    if (side === 'server') return 'wrong-side';
    feed.own('http', 'client', text);
    const answer = answered(await endpoint.handler(text, { signal: new AbortController().signal }));
    if (typeof answer !== 'string' && answer !== null) for await (const _ of answer);
    return undefined;
  };
  const http = feed.open('frames over HTTP', inject, 'http');
  const lines = new Map<string, Line>();
  const lineOf = (session: string): Line => {
    let line = lines.get(session);
    if (line === undefined) {
      line = feed.open('session over WebSocket', inject, session);
      lines.set(session, line);
    }
    return line;
  };
  const answered = (answer: FrameAnswer): FrameAnswer => {
    if (answer === null) return null;
    if (typeof answer !== 'string') return each(answer, (frame) => http.record('server', frame));
    for (const frame of answer.split('\n')) if (frame !== '') http.record('server', frame);
    return answer;
  };
  const observe = (frames: AsyncIterable<string>, session: string): AsyncIterable<string> =>
    each(frames, (frame) => lineOf(session).record('server', frame));
  return {
    ...endpoint,
    retain: (session) => {
      const end = endpoint.retain(session);
      return () => {
        lines.get(session.id)?.close();
        lines.delete(session.id);
        end();
      };
    },
    receive: (frame, session, signal, admit) => {
      lineOf(session.id).record('client', frame);
      return observe(endpoint.receive(frame, session, signal, admit), session.id);
    },
    send: (make, session) => observe(endpoint.send(make, session), session.id),
    handler: async (frame, context) => {
      http.record('client', frame);
      return answered(await endpoint.handler(frame, context));
    },
  };
}

async function* each<T>(items: AsyncIterable<T>, onItem: (item: T) => void): AsyncGenerator<T, void, undefined> {
  for await (const item of items) {
    onItem(item);
    yield item;
  }
}

/** Records the messages of all connections that a runtime accepts from now on. */
export function tapRuntime(runtime: Pick<Runtime, 'accept'>, feed: Feed): void {
  const accept = runtime.accept.bind(runtime);
  // Listeners take a runtime, not its method.
  runtime.accept = (channel, peer) => {
    const { kind = 'memory', address = '' } = peer ?? {};
    return accept(tapChannel(channel, feed, `${kind} ${address}`.trim(), 'client'), peer);
  };
}

/** Longer requests are not recorded, in bytes. */
const MAX_BODY = 2 ** 20;

/** Returns a route that records the text of its requests and responses. */
export function tapRoute(route: (request: Request) => Promise<Response>, feed: Feed, session: string) {
  const line = feed.open('packets over HTTP', undefined, session);
  return async (request: Request): Promise<Response> => {
    // A request without a length may be endless.
    const length = Number(request.headers.get('content-length') ?? Number.NaN);
    if (length <= MAX_BODY)
      void request
        .clone()
        .text()
        .then((text) => recordLines(line, 'client', text), ignore);
    else line.note('client', 'a request that is too long to be recorded');
    const response = await route(request);
    recordLines(line, 'server', await response.clone().text());
    return response;
  };
}

/** Records each line that is not blank. */
export function recordLines(line: Line, side: Side, text: string): void {
  for (const one of text.split('\n')) if (one.trim() !== '') line.record(side, one.replace(/\r$/, ''));
}

function ignore(): void {}
