/** Models that answer as they are told, and what they answer with. */
import type { Model, ModelReply, ModelRequest } from '../../src/aacp/fallback/index.js';

/** A reply; or what comes of a request: a reply, or anything else that a host's own function may give or throw. */
export type Script = ModelReply | ((request: ModelRequest) => unknown);

export interface ScriptedModel {
  readonly model: Model;
  /** What it was asked, in order. */
  readonly calls: readonly ModelRequest[];
}

/** Answers with the scripts in turn; the last one stays. */
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

/** What a call of `goodReply` costs: a sum of binary fractions, so that sums of it are exact. */
export const PRICE = 0.03125;
export const USAGE = { inputTokens: 600, outputTokens: 40 } as const;

type Asked = Pick<ModelRequest, 'domain' | 'returnAgent' | 'priority'>;

/** The packet that a request wants, with fields of its own. */
export function packetFor({ domain, returnAgent, priority }: Asked, fields = 'res:timesheets'): string {
  return `FETCH|${domain}|return:${returnAgent}|p:${priority}|aacp:1.1|${fields}`;
}

/** The right packet, at a price. */
export function goodReply(request: Asked, fields?: string): ModelReply {
  return { text: packetFor(request, fields), cost: PRICE, usage: USAGE, model: 'scripted' };
}

/** What is not a packet, at the same price. */
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
