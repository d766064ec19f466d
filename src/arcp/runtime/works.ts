/** Tools, workflows and agents, as whoever calls them finds them. */
import type * as z from 'zod';
import { ArcpError } from '../protocol/errors.js';
import type { TrustLevel } from '../protocol/payloads/parts.js';
import type { Registration } from './types.js';

export const KINDS: readonly Registration['kind'][] = ['tool', 'workflow', 'agent'];

interface CallRequest {
  readonly kind: Registration['kind'];
  readonly name: string;
  readonly trust: TrustLevel;
  readonly input: unknown;
}

/** Checks a call, and returns the input for the handler. @throws ArcpError `NOT_FOUND`, `PERMISSION_DENIED`, `INVALID_ARGUMENT` */
export async function checkCall(
  work: Registration | undefined,
  { kind, name, trust, input }: CallRequest,
): Promise<unknown> {
  if (work === undefined) throw new ArcpError('NOT_FOUND', `There is no ${kind} ${JSON.stringify(name)}`);
  if (trust === 'untrusted' && work.options.isPublic !== true)
    throw new ArcpError(
      'PERMISSION_DENIED',
      `Sessions that are not trusted do not use ${kind} ${JSON.stringify(name)}`,
    );
  const judged = await work.options.input?.safeParseAsync(input);
  if (judged === undefined) return input;
  if (judged.success) return judged.data;
  throw invalid(judged.error);
}

export async function checkResult({ options }: Registration, result: unknown): Promise<unknown> {
  if (options.output === undefined) return result;
  const judged = await options.output.safeParseAsync(result);
  if (judged.success) return judged.data;
  throw new ArcpError('INTERNAL', 'The result is not as it was declared', { details: { issues: judged.error.issues } });
}

export function invalid(error: z.core.$ZodError, prefix = ''): ArcpError {
  const issues = error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const said = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return new ArcpError('INVALID_ARGUMENT', `${prefix}${said}`, { details: { issues } });
}
