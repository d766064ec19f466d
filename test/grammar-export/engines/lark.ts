/** Lark, the parser in Python, in a separate process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Debian's packages are for the system's Python. */
const PYTHONS = ['python3', '/usr/bin/python3'];

const SCRIPT = fileURLToPath(new URL('lark-process.py', import.meta.url));

export interface LarkMatcher {
  (input: string): Promise<boolean>;
  readonly close: () => void;
}

/** A Python with Lark. Without one, tests are skipped, with the reason. */
export const larkPython = PYTHONS.find((python) => spawnSync(python, ['-c', 'import lark']).status === 0);

/** A suffix for the names of skipped tests. */
export const larkHint = larkPython === undefined ? ' (skipped: Lark is missing; Debian has it as python3-lark)' : '';

/** @throws Error with Lark's message if the grammar is invalid */
export async function larkMatcher(grammar: string): Promise<LarkMatcher> {
  const child = spawn(larkPython!, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ask = asker(child);
  const answer = await ask({ grammar });
  if (!answer.ok) {
    child.kill();
    throw new Error(`Lark refuses the grammar: ${answer.message}`);
  }
  const matches = async (input: string): Promise<boolean> => (await ask({ input })).ok;
  return Object.assign(matches, { close: () => child.stdin.end() });
}

interface Answer {
  readonly ok: boolean;
  readonly message?: string;
}

/** Lines come back in the order of the requests. */
function asker({ stdin, stdout }: ChildProcess): (question: object) => Promise<Answer> {
  const waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = [];
  const lines = createInterface({ input: stdout! });
  lines.on('line', (line) => waiting.shift()!.resolve(JSON.parse(line) as Answer));
  lines.on('close', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('Lark has ended before it answered'));
  });
  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      stdin!.write(`${JSON.stringify(question)}\n`);
    });
}
