/** Whom a message is for (spec 003, "Message Envelope": `target`). */
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { Core } from './core.js';
import { KINDS } from './works.js';

/** What a runtime is called by whoever speaks to it and knows no more of it. */
export const RUNTIME_NAMES: readonly string[] = ['runtime', 'pegwire'];

/**
 * A message may name whom it is for: the runtime, or something that it offers. What is for somebody else is not done here instead.
 *
 * @throws ArcpError `NOT_FOUND` where nobody here is called so, `INVALID_ARGUMENT` where a task is for another agent than its message
 */
export function assertAddressed({ find }: Pick<Core, 'find'>, message: Envelope): void {
  const { target } = message;
  if (target === undefined || RUNTIME_NAMES.includes(target)) return;
  if (!KINDS.some((kind) => find(kind, target) !== undefined))
    throw new ArcpError('NOT_FOUND', `Nobody here is called ${JSON.stringify(target)}`, { details: { target } });
  if (message.type === 'agent.delegate' && find('agent', target) && message.payload.target !== target)
    throw new ArcpError('INVALID_ARGUMENT', 'The message is for one agent, and its task for another');
}
