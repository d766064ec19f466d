/** The work of one endpoint as a list of commands, and a process that carries them out, killed again and again. */
import { createInterface } from 'node:readline';
import {
  type Codec,
  createCodec,
  createSession,
  type MessageInput,
  type Session,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { start } from '../../helpers/child.js';

export const WORKER = { agent: 'worker', id: 's', sequence: 'sender' } as const satisfies SessionOptions;

export type Command = { readonly at: number } & (
  | { readonly kind: 'set'; readonly key: string; readonly value: string }
  | { readonly kind: 'encode'; readonly message: MessageInput }
  | { readonly kind: 'decode'; readonly mid: string; readonly frame: string }
);

type Unnumbered<T> = T extends unknown ? Omit<T, 'at'> : never;

const LONG = Array.from({ length: 150 }, (_, at) => `finding ${at}`).join(', ');

/** Messages both ways, splits, streams, states and their deltas, values, checkpoints, and the exchange of registries. */
export function pipelineOf(rounds: number, compact: boolean): readonly Command[] {
  const codec = createCodec({ text: 'transliterate', compact, now: () => 1_714_000_000_000 });
  codec.registerSchema('note', { code: 'NT', version: 1, fields: ['text'], types: { text: 'string' } });
  const planner = createSession({ ...WORKER, agent: 'planner' });
  const commands: Unnumbered<Command>[] = [];
  const arrive = (frames: readonly string[]): void => {
    for (const frame of frames) commands.push({ kind: 'decode', mid: /\[mid:([^,]+)/.exec(frame)![1]!, frame });
  };
  const say = (message: MessageInput): void => arrive(codec.encode(message, planner).frames);
  // What the worker will answer to the announcement is known beforehand; then the planner sends its schema.
  const { frames } = codec.announce(planner);
  arrive(frames);
  const answers = repliesTo(frames, createCodec({ text: 'transliterate', compact }), createSession(WORKER));
  arrive(repliesTo(answers, codec, planner));
  for (let round = 1; round <= rounds; round++) {
    const cid = `task${round}`;
    const envelope = { correlation_id: cid };
    say({ intent: 'req', operation: 'analyze', payload: { goal: `goal ${round}` }, envelope });
    commands.push({ kind: 'set', key: `k${round % 7}`, value: `value ${round}` });
    if (round % 4 === 0) say({ intent: 'ack', operation: 'note', schema: 'NT', payload: { text: LONG }, envelope });
    if (round % 3 === 0) {
      const version = round / 3;
      const payload = version === 1 ? { version, state: { phase: 1 } } : { version, delta: { phase: version } };
      say({ intent: 'sync', operation: 'state', payload });
    }
    if (round % 5 === 0) {
      for (const index of [1, 0]) {
        const payload = { chunk_index: index, data: `chunk ${index} of ${round}` };
        say({
          intent: 'stream',
          operation: 'infer',
          schema: 'ST',
          payload,
          envelope: { correlation_id: `st${round}` },
        });
      }
    }
    const msg_id = `d${String(round).padStart(11, '0')}`;
    commands.push({
      kind: 'encode',
      message: {
        intent: 'done',
        operation: 'analyze',
        payload: { findings: `found ${round}`, confidence: 0.5, next_action: 'planner', artifacts: ['report_draft'] },
        envelope: { ...envelope, msg_id },
      },
    });
  }
  return commands.map((command, index) => ({ at: index + 1, ...command }) as Command);
}

function repliesTo(frames: readonly string[], codec: Codec, session: Session): readonly string[] {
  return frames.flatMap((frame) => {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
    return outcome.replies;
  });
}

export interface Done {
  /** Frames that were given back, in order; those of commands that were done when the process was killed may be missing. */
  readonly frames: string[];
  /** The number of times that the process was killed. */
  kills: number;
}

/**
 * Has the commands carried out by a process on `file` that is killed after each of the given numbers of commands, whatever it is
 * doing then, and started again.
 *
 * @param program `programs/worker.ts`, compiled, and its arguments after the file
 */
export async function carryOut(
  [program, ...args]: readonly string[],
  commands: readonly Command[],
  file: string,
  killAfter: readonly number[],
): Promise<Done> {
  const done: Done = { frames: [], kills: 0 };
  let position = 0;
  for (const limit of [...killAfter, Number.POSITIVE_INFINITY]) {
    const child = start([process.execPath, program!, file, ...args], {
      stdin: commands
        .slice(position)
        .map((command) => `${JSON.stringify(command)}\n`)
        .join(''),
    });
    const complaints: string[] = [];
    child.stderr.on('data', (piece: Buffer) => complaints.push(String(piece)));
    const end = new Promise<NodeJS.Signals | number | null>((resolve) => {
      child.on('close', (code, signal) => resolve(signal ?? code));
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { at, frames } = JSON.parse(line) as { at: number; frames: string[] };
      // The last line may have been cut off by the end, but JSON that parses is whole.
      position = at;
      done.frames.push(...frames);
      if (position >= limit) child.kill('SIGKILL');
    });
    const how = await end;
    if (how === 'SIGKILL') done.kills++;
    else if (how !== 0) throw new Error(complaints.join(''));
    if (position >= commands.length) break;
  }
  return done;
}
