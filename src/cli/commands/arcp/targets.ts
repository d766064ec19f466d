/** Targets: the runtimes that arguments name. */
import { type Dial, dialOf, type Target } from '../../../arcp/client/index.js';
import type { Channel } from '../../../channels/channel.js';
import { ADDRESS_FORMS } from '../../../channels/node/addresses.js';
import { shownAddress } from '../../../channels/shown-address.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import { readText } from '../../io/files.js';
import type { Invocation } from '../../options/command.js';
import { text, token } from '../../options/option.js';

export const TARGET_OPTIONS = {
  token: token('Authenticate with this bearer token'),
  ca: text('FILE', 'Trust the certificates in this file, in PEM, instead of those of the system'),
  'server-name': text('NAME', 'Require a certificate for this name (default: the host of TARGET)'),
};

export const TARGETS =
  `TARGET is ${ADDRESS_FORMS.slice(0, -1).join(', ')} or ${ADDRESS_FORMS.at(-1)}; or, after --, the command of a program that speaks ` +
  'ARCP on stdin and stdout.';

/** Returns the target of the arguments, its connections, and the words after it. @throws UsageError if there is no valid target */
export function namedTarget({
  words,
  program,
  options: { token, ca: file, 'server-name': serverName },
}: Pick<Invocation<typeof TARGET_OPTIONS>, 'words' | 'program' | 'options'>): {
  target: Target;
  dial: Dial;
  words: readonly string[];
  token: string | undefined;
} {
  const ca = file === undefined ? undefined : readText(file);
  const dialing = (target: Target): { target: Target; dial: Dial } => {
    try {
      return { target, dial: dialOf(target, { token, ca, serverName }) };
    } catch (thrown) {
      throw new UsageError((thrown as Error).message.replaceAll('serverName', '--server-name'));
    }
  };
  const own = words.slice(0, words.length - program.length);
  const [command, ...args] = program;
  if (command !== undefined) return { ...dialing({ command, args }), words: own, token };
  const [url, ...rest] = own;
  if (url === undefined)
    throw new UsageError('The command requires a target: ws://HOST:PORT/PATH, unix:PATH, or -- CMD [ARG...]');
  return { ...dialing(url), words: rest, token };
}

/** Connects at once, to detect an unreachable target. The first call of the returned function returns that connection. */
export async function connected(dial: Dial): Promise<Dial> {
  let first: Channel | undefined = await dial();
  return () => {
    const channel = first ?? dial();
    first = undefined;
    return channel;
  };
}

/** Returns the error of a target that cannot be reached. */
export function unreachable(thrown: unknown, target: Target): UsageError {
  const name = typeof target === 'string' ? shownAddress(target) : target.command;
  const reason = systemReason(thrown).replace(/\.$/, '');
  const isNamed = reason.includes(name.replace(/^[a-z]+:/, ''));
  const message = isNamed ? reason : `Cannot connect to ${name}: ${reason}`;
  return new UsageError(message, 'unreachable');
}

/** Yields the items of a target; converts its error. */
export async function* withTarget<T>(items: AsyncIterable<T>, target: Target): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (thrown) {
    throw unreachable(thrown, target);
  }
}

/** Returns the authentication of a token. */
export function bearer(secret: string | undefined): { readonly scheme: 'bearer'; readonly token: string } | undefined {
  return secret === undefined ? undefined : { scheme: 'bearer', token: secret };
}

/** Parses the arguments of a call. @throws UsageError if they are not a JSON object */
export function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The error is thrown below.
  }
  throw new UsageError(`Arguments must be a JSON object; got ${text.slice(0, 100)}`);
}
