/** Scripted models and their replies. */
import type { Model, ModelReply, ModelRequest } from '../../src/aacp/fallback/index.js';

/** A reply, or a function of the request that returns a reply, returns anything else, or throws. */
export type Script = ModelReply | ((request: ModelRequest) => unknown);

export interface ScriptedModel {
  readonly model: Model;
  /** The requests, in order. */
  readonly calls: readonly ModelRequest[];
}

/** Creates a model that replies with the scripts in turn, and then repeats the last one. */
export function scriptedModel(...scripts: readonly Script[]): ScriptedModel {
  const calls: ModelRequest[] = [];
  return {
    calls,
    model: async (request) => {
      calls.push(request);
      const script = scripts[Math.min(calls.length, scripts.length) - 1]!;
      return (await (typeof script === 'function' ? script(request) : script)) as ModelReply;
    },
  };
}

/** The cost of a call with `goodReply`, a binary fraction, so that sums are exact. */
export const PRICE = 0.03125;
export const USAGE = { inputTokens: 600, outputTokens: 40 } as const;

type RequestFields = Pick<ModelRequest, 'domain' | 'returnAgent' | 'priority'>;

/** Returns a valid packet for a request, with the given fields. */
export function packetFor({ domain, returnAgent, priority }: RequestFields, fields = 'res:timesheets'): string {
  return `FETCH|${domain}|return:${returnAgent}|p:${priority}|aacp:1.1|${fields}`;
}

/** Returns a valid reply to a request. */
export function goodReply(request: RequestFields, fields?: string): ModelReply {
  return { text: packetFor(request, fields), cost: PRICE, usage: USAGE, model: 'scripted' };
}

/** A reply that is not a packet, at the same cost. */
export const BAD_REPLY: ModelReply = { text: 'I would rather not.', cost: PRICE, usage: USAGE, model: 'scripted' };

/** A promise that is settled from outside. */
export interface Gate<T = void> {
  readonly opened: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (reason: unknown) => void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}
