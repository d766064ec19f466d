/** What is said between a runtime and a sandboxed tool: one JSON object a line. What the tool says is not to be trusted. */
import * as z from 'zod';
import { ArcpError, type ErrorBody, errorBodySchema } from '../../protocol/errors.js';
import { readJson } from '../../protocol/json.js';

const id = z.number().int().min(0);

const said = z.discriminatedUnion('type', [
  /** It has begun. */
  z.object({ type: z.literal('ready'), isRestricted: z.boolean() }),
  /** Something of the context is wanted. */
  z.object({ type: z.literal('ask'), id, method: z.string().max(64), args: z.array(z.unknown()).max(8) }),
  /** What a step came to, which was asked for by this id. */
  z.object({ type: z.literal('worked'), id, value: z.unknown().optional(), error: z.optional(errorBodySchema) }),
  z.object({ type: z.literal('result'), value: z.unknown().optional() }),
  z.object({ type: z.literal('error'), error: errorBodySchema }),
]);

/** What a tool says. */
export type Said = z.output<typeof said>;
export type Ask = Extract<Said, { type: 'ask' }>;
export type Worked = Extract<Said, { type: 'worked' }>;

/** What a runtime says. */
export type Told =
  | {
      readonly type: 'run';
      readonly module: string;
      readonly input: unknown;
      readonly context: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: ErrorBody | undefined;
    }
  /** A step is to be done, now. */
  | { readonly type: 'work'; readonly id: number; readonly operationKey: string }
  | { readonly type: 'cancel'; readonly error: ErrorBody };

/** Most arrays and objects in each other: those that a message of the protocol may have, and what is around them here. */
const MAX_DEPTH = 72;

/** @throws ArcpError `PAYLOAD_TOO_LARGE` on what is too deep, `INTERNAL` on what is no message */
export function readSaid(line: string): Said {
  const reading = readJson(line, MAX_DEPTH);
  if (!reading.ok && reading.fault === 'depth')
    throw new ArcpError('PAYLOAD_TOO_LARGE', `The sandboxed tool says something too deep: ${reading.message}`);
  const judged = reading.ok ? said.safeParse(reading.value) : undefined;
  if (judged?.success !== true) throw new ArcpError('INTERNAL', 'The sandboxed tool says what is no message');
  return judged.data;
}
