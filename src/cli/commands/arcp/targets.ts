/** Runtimes that arguments name. */
import { type Dial, dialOf, type Target } from '../../../arcp/client/index.js';
import type { Channel } from '../../../channels/channel.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import type { Invocation } from '../../options/command.js';
import { token } from '../../options/option.js';

export const TARGET_OPTIONS = { token: token('what the runtime wants to be shown') };

export const TARGETS =
  'A runtime is ws://HOST:PORT/PATH, unix:PATH, tcp://HOST:PORT or fifo:NAME; or it is a program, behind --, that speaks on its ' +
  'standard streams.';

/** @throws UsageError if no valid runtime is named */
export function namedTarget({
  words,
  program,
  options: { token },
}: Pick<Invocation<typeof TARGET_OPTIONS>, 'words' | 'program' | 'options'>): {
  target: Target;
  words: readonly string[];
  token: string | undefined;
} {
  const own = words.slice(0, words.length - program.length);
  const [command, ...args] = program;
  if (command !== undefined) return { target: { command, args }, words: own, token };
  const [url, ...rest] = own;
  if (url === undefined)
    throw new UsageError('A runtime is needed: ws://HOST:PORT/PATH, unix:PATH, or -- CMD [ARG...]');
  try {
    dialOf(url);
  } catch (thrown) {
    throw new UsageError((thrown as Error).message);
  }
  return { target: url, words: rest, token };
}

/** Connects at once, so that an unreachable target is an error; the first call of the returned function uses that connection. */
export async function reached(dial: Dial): Promise<Dial> {
  let first: Channel | undefined = await dial();
  return () => {
    const channel = first ?? dial();
    first = undefined;
    return channel;
  };
}

export function unreachable(thrown: unknown, target: Target): UsageError {
  const name = typeof target === 'string' ? target : target.command;
  return new UsageError(`${name}: ${systemReason(thrown)}`, 'unreachable');
}

/** Passes items on; an error of their source becomes a UsageError. */
export async function* reaching<T>(items: AsyncIterable<T>, target: Target): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (thrown) {
    throw unreachable(thrown, target);
  }
}

export function bearer(secret: string | undefined): { readonly scheme: 'bearer'; readonly token: string } | undefined {
  return secret === undefined ? undefined : { scheme: 'bearer', token: secret };
}

/** Parses a JSON object. @throws UsageError */
export function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new UsageError(`Arguments are an object in JSON, not ${text.slice(0, 100)}`);
}
