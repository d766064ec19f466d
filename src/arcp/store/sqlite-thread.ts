/** The program of a thread that has opened a SQLite file: it executes the calls of another one. */
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { StoreError } from '../../text/store-error.js';
import { openSqlite } from './sqlite.js';
import { OPENED, type ThreadAnswer, type ThreadCall, type ThreadError, type ThreadSetup } from './sqlite-caller.js';
import { msAhead } from './sqlite-clock.js';
import type { ArcpStore } from './store.js';

const { file, options, opening } = workerData as ThreadSetup;
const port = parentPort!;
/** The time of the store at the latest call. */
let now = 0;
let answers: ThreadAnswer[] = [];

/** Sends an answer, together with all others of this turn, such as those of one transaction. */
function send(answer: ThreadAnswer): void {
  if (answers.push(answer) > 1) return;
  process.nextTick(() => {
    port.postMessage(answers);
    answers = [];
  });
}

function errorOf(thrown: unknown): ThreadError {
  if (!(thrown instanceof StoreError)) return { thrown };
  const { reason, message, help, cause } = thrown;
  return { reason, message, help, cause };
}

/** Watches the file. A change before this call arrives is not seen, so that any may have happened. */
async function watch(store: ArcpStore): Promise<void> {
  store.watch((change) => send({ change }));
  send({ change: {} });
}

async function execute(store: ArcpStore, { id, method, args, at }: ThreadCall): Promise<void> {
  now = at;
  const call =
    method === 'watch' ? () => watch(store) : (store[method] as (...of: readonly unknown[]) => Promise<unknown>);
  try {
    send({ id, value: await call(...args) });
  } catch (thrown) {
    send({ id, error: errorOf(thrown) });
  }
  // Without a listener, the thread ends, even if closing failed.
  if (method === 'close') port.unref();
}

try {
  let ahead = 0;
  const store = await openSqlite(file, options, (database, statements) => {
    ahead = msAhead(database, statements, opening);
    now = opening.openedAt + ahead;
    return () => now;
  });
  send({ id: OPENED, value: ahead });
  port.on('message', (calls: readonly ThreadCall[]) => {
    for (const call of calls) void execute(store, call);
  });
} catch (thrown) {
  send({ id: OPENED, error: errorOf(thrown) });
}
