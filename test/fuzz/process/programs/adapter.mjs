/**
 * An adapter for tests. It accepts texts without the word "bad", echoes the text as canonical, and performs the actions
 * of its arguments: `--on WORD ACTION` performs an action on texts that contain the word, or on the empty text for the
 * word EMPTY.
 */
import { createInterface } from 'node:readline';

const [, , ...args] = process.argv;
const actions = new Map();
for (let at = 0; at < args.length; at += 3) actions.set(args[at + 1], args[at + 2]);
let requests = 0;

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const ACTIONS = {
  exit: () => process.exit(3),
  leave: () => process.exit(0),
  abort: () => process.kill(process.pid, 'SIGKILL'),
  hang: () => {
    for (;;);
  },
  eat: () => {
    const pieces = [];
    for (;;) pieces.push(Buffer.alloc(2 ** 24, 1));
  },
  'no-json': () => process.stdout.write('NaN is no answer\n'),
  'wrong-shape': () => answer({ result: 'fine' }),
  long: () => process.stdout.write(`{"ok":true,"canonical":"${'x'.repeat(100_000)}"}\n`),
  twice: () => process.stdout.write('{"ok":true}\n{"ok":true}\n'),
  blank: () => process.stdout.write('\n  \r\n{"ok":true,"canonical":"after blanks"}\r\n'),
  nulls: () => answer({ ok: true, canonical: null, offset: null, extra: 1 }),
  pieces: () => {
    process.stdout.write('{"ok":true,"canon');
    setTimeout(() => process.stdout.write('ical":"in pieces"}\n'), 20);
  },
  // Written synchronously, as writes to a pipe are, except on Windows.
  noise: () => {
    process.stderr.write('noise '.repeat(200_000));
    answer({ ok: true });
  },
  'last-words': () => {
    process.stderr.write(`${'x'.repeat(5000)} the end`);
    process.exit(1);
  },
  dialect: ({ dialect }) => answer({ ok: true, canonical: `in ${dialect}` }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  requests++;
  for (const [word, action] of actions) {
    // An action with a number starts with that request.
    const [name, after = '0'] = action.split('@');
    const concerned = word === 'EMPTY' ? request.input === '' : request.input.includes(word);
    if (concerned && requests > Number(after)) return ACTIONS[name](request);
  }
  if (request.input.includes('bad')) return answer({ ok: false, code: 'E1', offset: request.input.indexOf('bad') });
  return answer({ ok: true, canonical: request.input });
});
