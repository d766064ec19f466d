import { UsageError } from '../io/errors.js';
import { flag, text } from './option.js';

export const SERVER_OPTIONS = {
  host: text('HOST', 'name or address (127.0.0.1); others than this machine need --token'),
  insecure: flag('listen without --token where others than this machine reach it'),
};

export function notStarted(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof UsageError) return thrown;
  const { message, code } = thrown as NodeJS.ErrnoException;
  if (code === 'no-token')
    return new UsageError(`${message}: give it --token (or PEGWIRE_TOKEN in the environment), or --insecure`);
  // Invalid tokens, origins and paths.
  return thrown instanceof TypeError ? new UsageError(message) : new UsageError(message, 'address');
}
