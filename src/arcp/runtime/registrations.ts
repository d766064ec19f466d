/** Checks of calls to registered tools, workflows and agents, and of their results. */
import type * as z from 'zod';
import { issueMessage } from '../../text/issue-message.js';
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
  registration: Registration | undefined,
  { kind, name, trust, input }: CallRequest,
): Promise<unknown> {
  if (registration === undefined)
    throw new ArcpError('NOT_FOUND', `The ${kind} ${JSON.stringify(name)} does not exist`);
  if (trust === 'untrusted' && registration.options.isPublic !== true)
    throw new ArcpError('PERMISSION_DENIED', `Untrusted sessions may not use the ${kind} ${JSON.stringify(name)}`);
  const parsed = await registration.options.input?.safeParseAsync(input, { error: issueMessage });
  if (parsed === undefined) return input;
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error);
}

export async function checkResult({ options }: Registration, result: unknown): Promise<unknown> {
  if (options.output === undefined) return result;
  const parsed = await options.output.safeParseAsync(result, { error: issueMessage });
  if (parsed.success) return parsed.data;
  throw new ArcpError('INTERNAL', 'The result does not match the output schema', {
    details: { issues: parsed.error.issues },
  });
}

export function invalid(error: z.core.$ZodError, prefix = '', name = 'input'): ArcpError {
  const issues = error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const text = issues.map(({ path, message }) => `${path === '' ? name : path}: ${message}`).join('; ');
  return new ArcpError('INVALID_ARGUMENT', `${prefix}${text}`, { details: { issues } });
}
