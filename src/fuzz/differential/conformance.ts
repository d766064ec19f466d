/** What an implementation answers to conformance cases, judged. `test/conformance/README.md` holds the rules. */
import { treeDifference } from './oracle.js';
import type { Answer, Failure, Json, Outcome, Target } from './target.js';

/** A text, and what to say of it. */
export interface ConformanceCase {
  readonly id: string;
  /** Where the case stands, for reports. */
  readonly file: string;
  /** Section of the draft. */
  readonly section?: string | undefined;
  readonly input: string;
  readonly dialect: string;
  readonly expected: Expected;
  /** Dialects that have to read the canonical text, and print it unchanged. */
  readonly rereadIn?: readonly string[] | undefined;
}

/** `ok` tells whether the text has to be accepted; what is left out is not judged. */
export type Expected =
  | { readonly ok: true; readonly ast?: Json | undefined; readonly canonical?: string | undefined }
  | {
      readonly ok: false;
      readonly code?: string | undefined;
      /** In UTF-16 code units; left out where other places are as good. */
      readonly offset?: number | undefined;
    };

/** What of an answer is judged. All but `verdict` only where the answer has it. */
export const ASPECTS = ['verdict', 'tree', 'canonical', 'code', 'offset'] as const;
export type Aspect = (typeof ASPECTS)[number];

/** Something wrong in an answer. */
export interface Mismatch {
  readonly aspect: Aspect;
  /** Of a tree: where, as a JSON Pointer. */
  readonly path?: string;
  /** Present where it is the answer to the case's canonical text: the dialect that it was to be read in. */
  readonly rereadIn?: string;
  /** What is absent is `undefined`. */
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

/** What came of a case. */
export interface CaseResult {
  readonly case: ConformanceCase;
  readonly verdict: 'pass' | 'fail' | 'error';
  /** Of `fail`, one at least. */
  readonly mismatches: readonly Mismatch[];
  /** Of `error`: why there is no answer. */
  readonly failure: Failure | null;
  /** What was said of the case's own text, if anything. */
  readonly answer: Answer | null;
  /** What could be judged of it. */
  readonly compared: readonly Aspect[];
}

/**
 * Asks for all cases, as many at once as the target can do, and gives what came of them in their order.
 *
 * @throws TargetError when the target cannot be asked
 */
export async function* runConformance(target: Target, cases: readonly ConformanceCase[]): AsyncGenerator<CaseResult> {
  const results = cases.map((one) => askCase(target, one));
  // A target that cannot be asked rejects all of them; the first one tells.
  for (const result of results) result.catch(() => {});
  for (const result of results) yield await result;
}

async function askCase(target: Target, asked: ConformanceCase): Promise<CaseResult> {
  const { input, dialect, expected, rereadIn = [] } = asked;
  const canonical = expected.ok ? expected.canonical : undefined;
  const again = canonical === undefined ? [] : rereadIn.filter((other) => other !== dialect || canonical !== input);
  const [outcome, ...others] = await Promise.all([
    target.read({ input, dialect }),
    ...again.map((other) => target.read({ input: canonical!, dialect: other })),
  ]);
  const first = compareWithExpected(outcome!, expected);
  const rest = others.map((other) => compareWithExpected(other, { ok: true, canonical }));
  const mismatches = [
    ...first.mismatches,
    ...rest.flatMap((comparison, index) =>
      comparison.mismatches.map((mismatch) => ({ ...mismatch, rereadIn: again[index]! })),
    ),
  ];
  const failure = [first, ...rest].find((comparison) => comparison.failure !== null)?.failure ?? null;
  const verdict = failure !== null ? 'error' : mismatches.length > 0 ? 'fail' : 'pass';
  const answer = outcome!.kind === 'answer' ? outcome!.answer : null;
  return { case: asked, verdict, mismatches, failure, answer, compared: first.compared };
}

interface Comparison {
  readonly mismatches: readonly Mismatch[];
  readonly failure: Failure | null;
  readonly compared: readonly Aspect[];
}

export function compareWithExpected(outcome: Outcome, expected: Expected): Comparison {
  if (outcome.kind !== 'answer') return { mismatches: [], failure: outcome, compared: [] };
  const mismatches: Mismatch[] = [];
  const compared: Aspect[] = [];
  const compare = (aspect: Aspect, expected: Json | undefined, actual: Json | undefined): void => {
    if (expected === undefined || actual === undefined) return;
    compared.push(aspect);
    const difference = treeDifference(expected, actual);
    if (difference === null) return;
    const { path } = difference;
    mismatches.push({
      aspect,
      ...(aspect === 'tree' ? { path } : {}),
      expected: difference.expected,
      actual: difference.actual,
    });
  };
  compare('verdict', expected.ok, outcome.answer.ok);
  compareMembers(outcome.answer, expected, compare);
  return { mismatches, failure: null, compared };
}

function compareMembers(
  answer: Answer,
  expected: Expected,
  compare: (aspect: Aspect, expected: Json | undefined, actual: Json | undefined) => void,
): void {
  if (answer.ok && expected.ok) {
    compare('tree', expected.ast, answer.ast);
    compare('canonical', expected.canonical, answer.canonical);
  } else if (!answer.ok && !expected.ok) {
    compare('code', expected.code, answer.code);
    compare('offset', expected.offset, answer.offset);
  }
}
