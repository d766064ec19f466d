/** The tasks of the worker, by name. The page sends the input of a task, and gets its result. */
import type { TokenCounter } from '../../tokens/counter.js';
import { ESTIMATING_COUNTER } from '../../tokens/counter.js';
import type { EncodeInput, EncodeOutput, WorkflowList } from './encoders.js';
import type { FormatsInput, FormatsResult } from './formats.js';
import { analyzeFrames, type FrameInput } from './frame.js';
import type { PacketInput } from './packet.js';
import type { MessageResult } from './result.js';
import type { SessionInput, SessionResult } from './session.js';

/** The tasks with their inputs and results. */
export interface Tasks {
  readonly frames: { readonly input: FrameInput; readonly result: MessageResult };
  readonly packets: { readonly input: PacketInput; readonly result: MessageResult };
  readonly formats: { readonly input: FormatsInput; readonly result: FormatsResult };
  readonly workflows: { readonly input: null; readonly result: WorkflowList };
  readonly encode: { readonly input: EncodeInput; readonly result: EncodeOutput };
  readonly session: { readonly input: SessionInput; readonly result: SessionResult };
  /** Loads a tokenizer; `false` if its table is missing, so that counts stay estimates. */
  readonly tokenizer: {
    readonly input: { readonly encoding: string; readonly base: string };
    readonly result: boolean;
  };
}

export type TaskName = keyof Tasks;

/** A request to the worker. */
export interface TaskRequest<Name extends TaskName = TaskName> {
  readonly id: number;
  readonly task: Name;
  readonly input: Tasks[Name]['input'];
}

/** The answer to a request. */
export interface TaskReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

const counters = new Map<string, TokenCounter>();

/** The encoding of the first tabs, which current models use. */
const DEFAULT = 'o200k_base';

function counterOf(encoding = DEFAULT): TokenCounter {
  return counters.get(encoding) ?? ESTIMATING_COUNTER;
}

const RUN: {
  readonly [Name in TaskName]: (input: Tasks[Name]['input']) => Tasks[Name]['result'] | Promise<Tasks[Name]['result']>;
} = {
  frames: (input) => analyzeFrames(input, counterOf()),
  // What the first tab does not need is loaded later.
  packets: async (input) => (await import('./packet.js')).analyzePackets(input, counterOf()),
  formats: async (input) => (await import('./formats.js')).compareFormats(input, counterOf(input.encoding)),
  workflows: async () => (await import('./encoders.js')).workflowList(),
  encode: async (input) => (await import('./encoders.js')).encodeForm(input),
  session: async (input) => (await import('./session.js')).simulate(input),
  tokenizer: async ({ encoding, base }) => {
    if (counters.has(encoding)) return true;
    const { loadCounter } = await import('./tokenizer.js');
    const counter = await loadCounter(encoding, base);
    if (counter !== null) counters.set(encoding, counter);
    return counter !== null;
  },
};

/** Runs a task, and returns its result or the message of its error. */
export async function runTask({ id, task, input }: TaskRequest): Promise<TaskReply> {
  try {
    return { id, result: await (RUN[task] as (input: unknown) => unknown)(input) };
  } catch (thrown) {
    return { id, error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
