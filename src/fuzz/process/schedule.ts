/** Which request is asked next, and which one a failure is due to. */

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
  /** The next few that have not been asked, without taking them. */
  readonly ahead: (count: number) => readonly Request[];
  /** Takes the next request to send; `undefined` while none may be sent. */
  readonly next: () => Request | undefined;
  /** The oldest request sent was answered. */
  readonly answered: (answer: Answer) => void;
  /** The run is over, and what is sent from now on goes to a new one. `null`: it ended well, with nothing unanswered. */
  readonly ended: (failure: Failure | null) => void;
  readonly rejectAll: (error: Error) => void;
}

/** Said of a failure that a text alone does not bring about. */
const IN_SEQUENCE = 'only after other texts: asked first in a new process, this text was answered';
/** Said of a failure that came between two texts. */
const BETWEEN = 'before this text was asked, after others had been answered';

/**
 * Up to `window` requests are sent before the first is answered. When a run fails then, any of those unanswered may be the
 * cause: they are *suspects*, and asked again, one at a time. One that fails as the first of a run has done it. One that fails
 * later is asked once more, first in a run; if it is answered there, the failure is told with a note. When all are answered,
 * the first of them is told with that note.
 */
export function createSchedule(window: number): Schedule {
  const waiting = new Queue<Job>();
  let sent: Job[] = [];
  let suspects: Job[] = [];
  let search: { readonly first: Job; readonly failure: Failure; answer: Answer | null } | null = null;
  /** How the suspect asked now has failed before, later in a run. */
  let before: Failure | null = null;
  let count = 0;
  /** A failure while nothing was asked. It is told of the next text, lest it goes unseen. */
  let untold: Failure | null = null;

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
    if (search === null) return sent.length < window && waiting.size > 0 ? waiting.take() : undefined;
    return sent.length === 0 ? suspects.shift() : undefined;
  };

  return {
    add: (job) => waiting.push(job),
    hasWork: () => waiting.size + sent.length + suspects.length > 0,
    ahead: (most) => [...suspects, ...waiting.peek(most)].slice(0, most).map(({ request }) => request),
    next: () => {
      let job = take();
      if (job !== undefined && untold !== null && search === null) {
        job.resolve({ ...untold, note: BETWEEN });
        untold = null;
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
      else if (before !== null) blame(job, { ...before, note: IN_SEQUENCE });
      else {
        if (job === search.first) search.answer = answer;
        else resolveWith(job, answer);
        if (suspects.length === 0) {
          search.first.resolve({ ...search.failure, note: IN_SEQUENCE });
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
      if (first === undefined) untold = failure;
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
      const held = search?.answer == null ? [] : [search.first];
      for (const job of [...held, ...sent, ...suspects, ...waiting.clear()]) job.reject(error);
      sent = [];
      suspects = [];
      close();
    },
  };
}

function resolveWith(job: Job, answer: Answer): void {
  job.resolve({ kind: 'answer', answer });
}
