/** The lines of the adapter protocol: requests as they are written, answers as they are read. */
import { z } from 'zod';
import { quotedShort } from '../../text/visible.js';
import type { Answer, Json, Request } from './target.js';

const ANSWER = z.discriminatedUnion('ok', [
  // What came from JSON.parse is JSON; going through a deep tree once more would only cost time.
  z.object({ ok: z.literal(true), ast: z.custom<Json>().optional(), canonical: z.string().nullish() }),
  z.object({
    ok: z.literal(false),
    code: z.string().nullish(),
    offset: z.int().nonnegative().nullish(),
    message: z.string().nullish(),
  }),
]);

/** An answer, or why there is none. */
export type AnswerReading = { readonly answer: Answer } | { readonly problem: string };

/** A request as one line of ASCII, without the line end. Lone surrogates are escaped like all else beyond ASCII. */
export function requestLine({ input, dialect }: Request): string {
  const json = JSON.stringify(dialect === undefined ? { input } : { input, dialect });
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Reads one line that a program has answered with. */
export function readAnswer(line: string): AnswerReading {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { problem: `no JSON: ${quotedShort(line)}` };
  }
  const reading = checkAnswer(value);
  return 'problem' in reading ? { problem: `${reading.problem}: ${quotedShort(line)}` } : reading;
}

/**
 * Checks the shape of an answer. Members that the protocol does not know are dropped, and so are those that are null: many
 * languages write what is absent so. A tree is never null.
 */
export function checkAnswer(value: unknown): AnswerReading {
  const checked = ANSWER.safeParse(value);
  if (!checked.success) return { problem: whatIsWrong(value, checked.error) };
  const present = Object.entries(checked.data).filter(([, member]) => member !== null && member !== undefined);
  return { answer: Object.fromEntries(present) as Answer };
}

function whatIsWrong(value: unknown, error: z.ZodError): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no JSON object';
  if (!('ok' in value)) return 'no member "ok"';
  if (typeof value.ok !== 'boolean') return '"ok" is neither true nor false';
  const wrong = error.issues.map(({ path }) => `"${path.join('.')}"`);
  const shape: Readonly<Record<string, string>> = { '"offset"': 'no whole number from 0 on' };
  return wrong.map((name) => `${name} is ${shape[name] ?? 'no string'}`).join(', ');
}
