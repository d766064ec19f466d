/**
 * A process whose sessions encode one message each in a group, and which prints their numbers after the group has been stored:
 * `group-child.ts FILE`. It never ends.
 */
import process from 'node:process';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { tell } from '../../helpers/tell.js';
import { GROUP, numberOf } from './group.js';

const store = await sqliteStore(process.argv[2]!);
const codec = createCodec();
const sessions = GROUP.map((id) => createSession({ agent: 'a', id, store }));
for (;;) {
  const sent = sessions.map((session) =>
    store.groupCommit(() =>
      codec.encode({ intent: 'done', operation: 'note', payload: { from: session.id } }, session),
    ),
  );
  const numbers = (await Promise.all(sent)).map(({ frames }) => numberOf(frames[0]!));
  tell(numbers.join(' '));
}
