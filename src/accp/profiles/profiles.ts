/** The profiles, several of which are active at once (draft-benzing-accp-00, section 10). */
import { quotedShort } from '../../text/visible.js';
import { CHAT } from './chat.js';
import { ERROR } from './error.js';
import { broken, type Profile, type ProfileContext, type ProfileMessage } from './profile.js';
import { STREAMING } from './streaming.js';
import { TOOL } from './tool.js';
import { TRANSACTION } from './transaction.js';
import { WORKFLOW } from './workflow.js';

export type { Profile, ProfileContext, ProfileMessage, RememberedRequest } from './profile.js';
export { type Tool, type ToolBook, toolBook } from './tool-book.js';

/** In the order of section 10; errors (section 3.6) are no profile of it, and belong to every one. */
export const PROFILES: readonly Profile[] = Object.freeze([CHAT, TOOL, TRANSACTION, STREAMING, WORKFLOW, ERROR]);

const CODES: ReadonlySet<string> = new Set(PROFILES.map(({ code }) => code));

/**
 * Checks a message against the rules of the active profiles, when sending as when receiving.
 *
 * @param active codes of schemas, such as `TC`; `ER` is active even if it is not named
 * @throws AccpError E1003 for the schema of a profile that is not active; E1004 for a message that breaks a rule; E4001 and
 *   E4003 for calls of unknown tools and for wrong arguments
 */
export function checkProfiles(message: ProfileMessage, context: ProfileContext, active: ReadonlySet<string>): void {
  const { schema } = message;
  if (schema !== undefined && CODES.has(schema) && schema !== ERROR.code && !active.has(schema)) {
    throw broken('schema', `The profile of the schema ${quotedShort(schema)} is not active.`, undefined, 'E1003');
  }
  for (const profile of PROFILES) {
    if (profile === ERROR || active.has(profile.code)) profile.check(message, context);
  }
}
