/** Messages and contexts for the rules of profiles. */
import type { ProfileContext, ProfileMessage } from '../../../src/accp/profiles/profiles.js';
import { checkProfiles, PROFILES } from '../../../src/accp/profiles/profiles.js';
import { refusal } from '../registry/refusals.js';

export const ALL: ReadonlySet<string> = new Set(PROFILES.map(({ code }) => code));
export const DIRECTIONS = ['send', 'receive'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** `done:tool` and the schema, what is in the payload, and the correlation. */
export function message(
  header: string,
  schema: string | undefined,
  payload: ProfileMessage['payload'] = {},
  correlation?: string,
): ProfileMessage {
  const [intent = '', operation = ''] = header.split(':');
  return {
    agent: 'a',
    intent,
    operation,
    schema,
    payload: Object.assign(Object.create(null), payload) as ProfileMessage['payload'],
    envelope: { msg_id: 'm2', sequence: 2, ...(correlation === undefined ? {} : { correlation_id: correlation }) },
  };
}

/** Returns the result of a check: code and path of the error, or the codes of the warnings. */
export function verdict(
  checked: ProfileMessage,
  direction: Direction,
  context: Partial<ProfileContext> = {},
  active: ReadonlySet<string> = ALL,
): string {
  const warnings: string[] = [];
  const warn = (code: string, _: string, path?: string): void => {
    warnings.push(`${code} at ${path}`);
  };
  const error = refusal(() => checkProfiles(checked, { direction, dialect: 'strict', warn, ...context }, active));
  if (error !== null) return `${error[0]} at ${error[1]}`;
  return warnings.length === 0 ? 'fine' : `warned: ${warnings.join(', ')}`;
}
