/** Which states a job may go through (spec 003, "Jobs"). */

import { ArcpError } from '../../protocol/errors.js';
import { JOB_STATES, type JobState } from '../../protocol/payloads/parts.js';

/**
 * From each state, those that may follow. From `running` back to `queued` leads a retry, or the loss of whoever worked on it; the last
 * three lead nowhere.
 */
export const TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  accepted: ['queued', 'running', 'cancelled', 'failed'],
  queued: ['running', 'paused', 'cancelled', 'failed'],
  running: ['blocked', 'paused', 'queued', 'completed', 'failed', 'cancelled'],
  blocked: ['running', 'queued', 'paused', 'failed', 'cancelled'],
  paused: ['queued', 'cancelled', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** States in which nobody works on a job that has not ended. */
export const IDLE_STATES = ['accepted', 'queued', 'paused'] as const satisfies readonly JobState[];

export function isIdle(state: JobState): boolean {
  return IDLE_STATES.some((idle) => idle === state);
}

export function isTerminal(state: JobState): boolean {
  return TRANSITIONS[state].length === 0;
}

/** States from which one may be reached. */
export function statesBefore(to: JobState): readonly JobState[] {
  return JOB_STATES.filter((from) => TRANSITIONS[from].includes(to));
}

/** @throws ArcpError `FAILED_PRECONDITION` where one state does not follow the other */
export function assertTransition(from: JobState, to: JobState): void {
  if (TRANSITIONS[from].includes(to)) return;
  throw new ArcpError('FAILED_PRECONDITION', `A job that is ${from} does not become ${to}`, { details: { from, to } });
}
