/** Whether a job is as somebody expects who wants to change it. */
import { type JobChange, type JobRow, LIVE_STATES } from './store.js';

export function isExpected(found: JobRow | undefined, { attempt, states = LIVE_STATES }: JobChange): boolean {
  return found !== undefined && (attempt === undefined || found.attempt === attempt) && states.includes(found.state);
}
