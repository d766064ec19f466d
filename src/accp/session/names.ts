/** What agents and sessions may be called (draft-benzing-accp-00, section 3.1; the lengths are ours). */

const AGENT = /^[A-Za-z0-9_-]{1,256}$/;
const IDENTIFIER = /^[!-~]{1,256}$/;

export const isAgentName = (text: string): boolean => AGENT.test(text);

/** Whether a text can name a session, or a message. */
export const isIdentifier = (text: string): boolean => IDENTIFIER.test(text);

/** @throws TypeError on a name that no agent can have */
export function checkAgentName(agent: string): string {
  if (isAgentName(agent)) return agent;
  throw new TypeError(`"${agent}" is no agent: 1 to 256 letters, digits, "-" and "_"`);
}
