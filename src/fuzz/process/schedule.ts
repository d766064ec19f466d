/** The order in which requests are sent, and the attribution of failures to requests. */

import { Queue } from '../../async/queue.js';
import type { Answer, Failure, Outcome, Request } from '../differential/target.js';

interface Job {
  readonly request: Request;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

interface Schedule {
  readonly add: (job: Job) => void;
  readonly hasWork: () => boolean;
  /** The next few requests that have not been sent, without removing them. */
  readonly ahead: (count: number) => readonly Request[];
  /** Removes the next request to send; `undefined` if none may be sent. */
  readonly next: () => Request | undefined;
  /** The oldest request was answered. */
  readonly answered: (answer: Answer) => void;
  /** The run has ended; later requests go to a new one. The failure is null if it ended normally, with no request unanswered. */
  readonly ended: (failure: Failure | null) => void;
  readonly rejectAll: (error: Error) => void;
}

/** The note on a failure that the text alone does not cause. */
const ONLY_AFTER_OTHERS = 'only after other texts: sent first to a new process, this text was answered';
/** The note on a failure that occurred between two requests. */
const BETWEEN_REQUESTS = 'before this text was sent, after others had been answered';

/**
 * Schedules requests. Up to `maxInFlight` are sent before the first is answered. If the run then fails, each of the
 * unanswered ones may be the cause: these *suspects* are sent again, one at a time. A suspect that fails as the first
 * request of a run is the cause. A suspect that fails later is sent once more, first in a run; if it is answered there,
 * its failure is reported with a note. If all suspects are answered, the failure is reported for the first of them,
 * with that note.
 */
export function createSchedule(maxInFlight: number): Schedule {
  const waiting = new Queue<Job>();
  let sent: Job[] = [];
  let suspects: Job[] = [];
  let search: { readonly first: Job; readonly failure: Failure; answer: Answer | null } | null = null;
  /** The failure of the current suspect later in a run, to be confirmed. */
  let before: Failure | null = null;
  let count = 0;
  /** A failure while no request was unanswered. It is reported for the next request, so that it is not lost. */
  let unreported: Failure | null = null;

  const close = (): void => {
    waiting.unshift(suspects);
    suspects = [];
    before = null;
    search = null;
  };
  const blame = (job: Job, failure: Failure): void => {
    job.resolve(failure);
    if (search !== null && search.first !== job && search.answer !== null) resolveWith(search.first, search.answer);
    close();
  };
  const take = (): Job | undefined => {
    if (search === null) return sent.length < maxInFlight && waiting.size > 0 ? waiting.take() : undefined;
    return sent.length === 0 ? suspects.shift() : undefined;
  };

  return {
    add: (job) => waiting.push(job),
    hasWork: () => waiting.size + sent.length + suspects.length > 0,
    ahead: (most) => [...suspects, ...waiting.peek(most)].slice(0, most).map(({ request }) => request),
    next: () => {
      let job = take();
      if (job !== undefined && unreported !== null && search === null) {
        job.resolve({ ...unreported, note: BETWEEN_REQUESTS });
        unreported = null;
        job = take();
      }
      if (job === undefined) return undefined;
      sent.push(job);
      count++;
      return job.request;
    },
    answered: (answer) => {
      const job = sent.shift()!;
      if (search === null) resolveWith(job, answer);
      else if (before !== null) blame(job, { ...before, note: ONLY_AFTER_OTHERS });
      else {
        if (job === search.first) search.answer = answer;
        else resolveWith(job, answer);
        if (suspects.length === 0) {
          search.first.resolve({ ...search.failure, note: ONLY_AFTER_OTHERS });
          close();
        }
      }
    },
    ended: (failure) => {
      const alone = count === 1;
      const lost = sent;
      sent = [];
      count = 0;
      const [first] = lost;
      if (failure === null) return;
      if (first === undefined) unreported = failure;
      else if (alone) blame(first, failure);
      else if (search === null) {
        suspects = lost;
        search = { first, failure, answer: null };
      } else {
        suspects.unshift(first);
        before = failure;
      }
    },
    rejectAll: (error) => {
      const pendingFirst = search?.answer == null ? [] : [search.first];
      for (const job of [...pendingFirst, ...sent, ...suspects, ...waiting.clear()]) job.reject(error);
      sent = [];
      suspects = [];
      close();
    },
  };
}

function resolveWith(job: Job, answer: Answer): void {
  job.resolve({ kind: 'answer', answer });
}
