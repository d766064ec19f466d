/** The runtimes that arguments name. */
import { type Dial, dialOf, type Target } from '../../../arcp/client/index.js';
import type { Channel } from '../../../channels/channel.js';
import { systemReason } from '../../../text/system-reason.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { givenToken } from '../../options/server.js';

export interface Named {
  readonly target: Target;
  /** The words behind the name of the runtime. */
  readonly words: readonly string[];
  readonly token: string | undefined;
}

/** @throws UsageError where none is named, or none of that sort is known */
export function namedTarget(invocation: Invocation): Named {
  const { words, program } = invocation;
  const token = givenToken(invocation);
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
