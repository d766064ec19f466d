/** Waits for the end of a job, whoever works on it. */
import type { StoredEvent } from '../../store/store.js';
import type { Engine } from '../engine-type.js';
import { isTerminal } from './machine.js';

/** Resolves when it has ended, or there is no such job. */
export async function untilEnded({ hub, store }: Pick<Engine, 'hub' | 'store'>, jobId: string): Promise<void> {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const look = async (): Promise<void> => {
    const row = await store.readJob(jobId);
    if (row === undefined || isTerminal(row.state)) end();
  };
  const follower = {
    told: ({ isTerminal: isLast }: StoredEvent): void => {
      if (isLast === true) end();
    },
    whispered: (): void => {},
    disturbed: (): void => {
      // What cannot be read now is read at the next occasion.
      void look().catch(() => {});
    },
  };
  hub.followJob(jobId, follower);
  try {
    await look();
    await ended;
  } finally {
    hub.leaveJob(jobId, follower);
  }
}
