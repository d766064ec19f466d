/** The runtimes that arguments name. */
import { type Dial, dialOf, type Target } from '../../../arcp/client/index.js';
import type { Channel } from '../../../channels/channel.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import type { Invocation } from '../../options/command.js';
import { token } from '../../options/option.js';

/** The options of every command that connects to a runtime. */
export const TARGET_OPTIONS = { token: token('what the runtime wants to be shown') };

/** For the help pages. */
export const TARGETS =
  'A runtime is ws://HOST:PORT/PATH, unix:PATH, tcp://HOST:PORT or fifo:NAME; or it is a program, behind --, that speaks on its ' +
  'standard streams.';

export interface Named {
  readonly target: Target;
  /** The words behind the name of the runtime. */
  readonly words: readonly string[];
  readonly token: string | undefined;
}

/** @throws UsageError where none is named, or none of that sort is known */
export function namedTarget({
  words,
  program,
  options: { token },
}: Pick<Invocation<typeof TARGET_OPTIONS>, 'words' | 'program' | 'options'>): Named {
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

/**
 * Dials. A target that cannot be reached at first is reported at once; a connection that is lost later is made again.
 *
 * @returns a dial function whose first connection is that one
 */
export async function reached(dial: Dial): Promise<Dial> {
  let first: Channel | undefined = await dial();
  return () => {
    const channel = first ?? dial();
    first = undefined;
    return channel;
  };
}

/** Why there is no connection, in words. */
export function unreachable(thrown: unknown, target: Target): UsageError {
  const name = typeof target === 'string' ? target : target.command;
  return new UsageError(`${name}: ${systemReason(thrown)}`, 'unreachable');
}

/** What shows a token to a runtime. */
export function bearer(secret: string | undefined): { readonly scheme: 'bearer'; readonly token: string } | undefined {
  return secret === undefined ? undefined : { scheme: 'bearer', token: secret };
}

/**
 * Reads the arguments of a tool.
 *
 * @throws UsageError on what is not a JSON object
 */
export function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new UsageError(`Arguments are an object in JSON, not ${text.slice(0, 100)}`);
}
