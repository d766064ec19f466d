/** What all providers have in common: constraints, errors, cost. */

import { unlessAborted } from './abort.js';
import { type Constraint, createLadder } from './constraint.js';
import { ModelError } from './errors.js';
import { once } from './load-sdk.js';
import type { ModelReply, ModelRequest, ProviderModel } from './model.js';
import { type BilledUsage, costOf } from './price.js';
import { type Asked, modelErrorOf } from './provider-errors.js';
import type { ProviderSettings, SdkRequestOptions } from './provider-options.js';

/** A reply as a provider gives it. */
export interface ProviderReply extends Pick<ModelReply, 'text' | 'finish' | 'model'> {
  readonly usage: BilledUsage | undefined;
}

/** What is particular to one provider. */
export interface Provider<Client, Name extends string> {
  /** How it is called in messages. */
  readonly name: string;
  /** Strictest first. */
  readonly constraints: readonly Constraint<Name>[];
  readonly connect: () => Promise<Client>;
  /** Keys that no message may show. */
  readonly secretsOf: (client: Client) => readonly unknown[];
  readonly send: (
    client: Client,
    request: ModelRequest,
    how: { readonly constraint: Name; readonly grammar: string | null; readonly options: SdkRequestOptions },
  ) => PromiseLike<unknown>;
  /** @throws ModelError on what is no reply */
  readonly read: (answer: unknown, asked: Asked) => ProviderReply;
}

export function createModel<Client, Name extends string>(
  { timeout, maxRetries, price, onNotice }: ProviderSettings,
  { name, constraints, connect, secretsOf, send, read }: Provider<Client, Name>,
): ProviderModel {
  const ladder = createLadder(name, constraints, onNotice);
  const connected = once(connect);

  return async (request) => {
    const { signal } = request;
    let asked: Asked = { provider: name, secrets: [], signal };
    try {
      const client = await connected();
      const secrets = secretsOf(client).filter((secret) => typeof secret === 'string');
      asked = { ...asked, secrets };
      const answer = await ladder.ask(
        request,
        (constraint, grammar) =>
          unlessAborted(signal, (own) => {
            const options = { signal: own, timeout, maxRetries };
            return send(client, request, { constraint, grammar, options });
          }),
        (thrown) => modelErrorOf(thrown, asked).message,
      );
      const { usage, ...reply } = read(answer, asked);
      const billed = usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
      return { ...reply, usage: billed, cost: costOf(usage, price) };
    } catch (thrown) {
      throw modelErrorOf(thrown, asked);
    }
  };
}

/** One turn of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The conversation so far, without the system message. Providers take no empty turns. */
export function conversation({ prompt, repair }: ModelRequest): Turn[] {
  const turns: Turn[] = [{ role: 'user', content: prompt }];
  if (repair === null) return turns;
  if (repair.reply.trim() !== '') turns.push({ role: 'assistant', content: repair.reply });
  turns.push({ role: 'user', content: repair.prompt });
  return turns;
}

/** The system message, and how the reply is wanted. */
export function instructions({ system }: ModelRequest, form: string | null): string {
  return form === null ? system : `${system}\n\n${form}`;
}

/** Of a reply whose end the provider has not marked: what it holds may be a part. */
export const UNFINISHED = 'that is not finished';

/** For what is not what the provider's protocol says. */
export function badReply(provider: string, what: string): ModelError {
  return new ModelError({ code: 'model-bad-reply', message: `${provider} sent a reply ${what}.` });
}
