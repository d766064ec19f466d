/** What the frames of an answer are to an A2A task (draft-benzing-accp-00, sections 4.1, 10.4 and 11.4). */
import { tryParseFrame } from '../../parse.js';
import { type FrameHead, isErrorHead } from '../frames.js';
import { TASK_STATE } from './sdk-shapes.js';

/**
 * - `chunk`: a part of an artifact
 * - `wait`: what the task needs from others, where nothing follows
 * - `ack`: it goes on, and nothing more is said for now
 * - `note`: changes nothing
 * - `end`: ends a stream, and the task where nothing follows
 * - `final`: ends the task
 */
export type FrameRole = 'chunk' | 'wait' | 'ack' | 'note' | 'end' | 'final';

/** A text that is no frame is nothing that a task can be ended by. */
export function roleOf(head: FrameHead | null): FrameRole {
  if (head === null) return 'note';
  const { intent, schema } = head;
  if (intent === 'done' || intent === 'fail' || isErrorHead(head)) return 'final';
  if (intent === 'end') return schema === 'ST' ? 'chunk' : 'end';
  if (intent === 'stream' || schema === 'ST') return 'chunk';
  return intent === 'wait' || intent === 'ack' ? intent : 'note';
}

/** Codes of errors for what an agent will not do, whatever it could (section 3.6, Table 6). */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['E5001', 'E5002']);

/** The state of a task after a frame that ends it. */
export function stateAfter(frame: string, head: FrameHead): number {
  if (head.intent !== 'fail' && !isErrorHead(head)) return TASK_STATE.completed;
  return REFUSALS.has(textOf(frame, ['code'])) ? TASK_STATE.rejected : TASK_STATE.failed;
}

/** Whether a chunk is the last one of its stream. */
export function isFinalChunk(frame: string): boolean {
  return textOf(frame, ['done', 'is_final']) === 'true';
}

function textOf(frame: string, keys: readonly string[]): string | undefined {
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  if (!parsed.ok) return undefined;
  const value = parsed.value.payload.find(({ key }) => keys.includes(key))?.value;
  return value !== undefined && 'value' in value ? String(value.value) : undefined;
}
