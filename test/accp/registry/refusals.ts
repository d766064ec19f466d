/** Errors as data, for tables of cases. */
import { AccpError } from '../../../src/accp/errors.js';

/** Code and path of the error that `run` throws; `null` where it throws none. */
export function refusal(run: () => unknown): readonly [code: string, path: string | undefined] | null {
  const error = refused(run);
  return error === null ? null : [error[0], error[1]];
}

/** Code, path and message without the path. */
export function refused(run: () => unknown): readonly [string, string | undefined, string] | null {
  try {
    run();
    return null;
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    const { code, path, message } = thrown;
    return [code, path, path === undefined ? message : message.slice(`${path}: `.length)];
  }
}
