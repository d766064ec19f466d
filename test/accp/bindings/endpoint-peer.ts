/** An endpoint without a transport, and a client of it. */
import { createEndpoint, type Endpoint, type EndpointOptions } from '../../../src/accp/bindings/endpoint.js';
import {
  createCodec,
  createSession,
  type Message,
  type MessageInput,
  type Session,
} from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { collect, echo } from './http-server.js';

export const NEVER = new AbortController().signal;

export function endpointOf(options: Partial<EndpointOptions> = {}): Endpoint {
  return createEndpoint({ codec: createCodec(), agent: 'server', handle: echo, ...options });
}

/** @param signal each request has its own */
export async function answersOf(
  endpoint: Endpoint,
  frame: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  const answer = await endpoint.handler(frame, { signal });
  if (answer === null) return [];
  if (typeof answer === 'string') return [answer];
  return collect(answer);
}

/** A client that sends requests. */
export function peer(id = 'sid1'): {
  session: Session;
  say: (message: MessageInput | string) => string;
  hear: (frame: string) => Message;
} {
  const codec = createCodec();
  const session = createSession({ agent: 'client', id, sequence: 'sender' });
  return {
    session,
    say: (message) => codec.encode(message, session).frames[0]!,
    hear: (frame) => {
      const outcome = codec.decode(frame, session);
      if (outcome.outcome === 'message') return outcome.message;
      if (outcome.outcome === 'pending' && outcome.message !== undefined) return outcome.message;
      throw new Error(`not a message: ${outcome.outcome} of ${frame}`);
    },
  };
}

export function numberOf(frame: string, key: string): unknown {
  const value = parseFrame(frame).metadata!.find((param) => param.key === key)?.value;
  return value?.kind === 'integer' ? value.value : undefined;
}
