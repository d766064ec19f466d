/**
 * One endpoint with a file: `worker.ts FILE [compact]`. Reads commands from stdin, one JSON text per line, executes them, and prints one line for each
 * when it is done. The identifier of its frame shows if a command was executed before the process was last killed.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { createCodec, createSession } from '../../../../src/accp/codec/index.js';
import { partsOfSession } from '../../../../src/accp/session/session.js';
import { sqliteStore } from '../../../../src/accp/store/sqlite.js';
import { tell } from '../../../helpers/tell.js';
import { type Command, WORKER } from '../pipeline.js';

const store = await sqliteStore(process.argv[2]!);
const session = createSession({ ...WORKER, store });
let at = 0;
let made = 0;
const codec = createCodec({
  text: 'transliterate',
  compact: process.argv[3] === 'compact',
  now: () => (1_714_000_000 + at) * 1000,
  // The same in each run: two runs are compared.
  createId: () => `e${String(at).padStart(7, '0')}${String(++made).padStart(4, '0')}`,
});

function carryOut(command: Command): readonly string[] {
  switch (command.kind) {
    case 'set':
      session.state.set('hot', command.key, command.value);
      return [];
    case 'encode': {
      const isDone = partsOfSession(session).delivery.hasSeen(command.message.envelope!.msg_id!);
      return isDone ? [] : codec.encode(command.message, session).frames;
    }
    case 'decode': {
      if (partsOfSession(session).delivery.hasSeen(command.mid)) return [];
      const outcome = codec.decode(command.frame, session);
      if (outcome.outcome === 'rejected') throw outcome.error;
      return outcome.outcome === 'dropped' ? [] : outcome.replies;
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  at = command.at;
  made = 0;
  tell(JSON.stringify({ at, frames: carryOut(command) }));
}
// Given back without a last commit: everything is in the file by now.
store.close();
