/** Runs conformance cases against a target and compares its answers. The rules are in `test/conformance/README.md`. */
import { treeDifference } from './oracle.js';
import type { Answer, Failure, Json, Outcome, Target } from './target.js';

/** A text, and the expected answer. */
export interface ConformanceCase {
  /** The stable identifier of the case, such as `accp/grammar/minimal`. */
  readonly id: string;
  /** The file that holds the case, for reports. */
  readonly file: string;
  /** The section of the draft that the case tests. */
  readonly section?: string | undefined;
  /** The text to read. */
  readonly input: string;
  /** The dialect to read it in. */
  readonly dialect: string;
  /** The expected answer. */
  readonly expected: Expected;
  /** The dialects that must accept the canonical text and print it unchanged. @default none */
  readonly reparseDialects?: readonly string[] | undefined;
}

/** An expected answer. Members that are absent are not compared. */
export type Expected =
  | {
      /** The text must be accepted. */
      readonly ok: true;
      /** The tree that the target must build. */
      readonly ast?: Json | undefined;
      /** The text that the target must print. */
      readonly canonical?: string | undefined;
    }
  | {
      /** The text must be rejected. */
      readonly ok: false;
      /** The code of the error. */
      readonly code?: string | undefined;
      /** The offset of the error in UTF-16 code units; absent if several are acceptable. */
      readonly offset?: number | undefined;
    };

/** The aspects of an answer that are compared. All but `verdict` are compared only if the answer contains them. */
export const ASPECTS = ['verdict', 'tree', 'canonical', 'code', 'offset'] as const;
/** One of {@link ASPECTS}. */
export type Aspect = (typeof ASPECTS)[number];

/** One difference between an answer and the expected one. */
export interface Mismatch {
  /** The aspect that differs. */
  readonly aspect: Aspect;
  /** For `tree`, the place of the difference as a JSON Pointer (RFC 6901). */
  readonly path?: string;
  /** Present if the answer was to the canonical text of the case: the dialect that it was read in. */
  readonly reparseDialect?: string;
  /** The expected value; `undefined` if no value is expected there. */
  readonly expected: Json | undefined;
  /** The value in the answer; `undefined` if there is none. */
  readonly actual: Json | undefined;
}

/** The result of one case. */
export interface CaseResult {
  /** The case. */
  readonly case: ConformanceCase;
  /** `pass` if the answer is as expected, `fail` if it differs, `error` if there is no answer. */
  readonly verdict: 'pass' | 'fail' | 'error';
  /** The differences; at least one if the verdict is `fail`. */
  readonly mismatches: readonly Mismatch[];
  /** The reason for the missing answer if the verdict is `error`; otherwise null. */
  readonly failure: Failure | null;
  /** The answer to the text of the case; null if there is none. */
  readonly answer: Answer | null;
  /** The aspects of the answer to the text of the case that could be compared. */
  readonly compared: readonly Aspect[];
}

/**
 * Sends all cases to a target, as many at once as it can process, and yields the results in the order of the cases.
 *
 * @throws TargetError if the target cannot be tested
 * @example
 * for await (const { case: { id }, verdict } of runConformance(target, cases)) console.log(id, verdict);
 */
export async function* runConformance(target: Target, cases: readonly ConformanceCase[]): AsyncGenerator<CaseResult> {
  const results = cases.map((one) => runCase(target, one));
  // An unusable target rejects all of them. The first rejection is the one that the caller gets.
  for (const result of results) result.catch(() => {});
  for (const result of results) yield await result;
}

async function runCase(target: Target, testCase: ConformanceCase): Promise<CaseResult> {
  const { input, dialect, expected, reparseDialects = [] } = testCase;
  const canonical = expected.ok ? expected.canonical : undefined;
  const again =
    canonical === undefined ? [] : reparseDialects.filter((other) => other !== dialect || canonical !== input);
  const [outcome, ...others] = await Promise.all([
    target.read({ input, dialect }),
    ...again.map((other) => target.read({ input: canonical!, dialect: other })),
  ]);
  const first = compareWithExpected(outcome!, expected);
  const rest = others.map((other) => compareWithExpected(other, { ok: true, canonical }));
  const mismatches = [
    ...first.mismatches,
    ...rest.flatMap((comparison, index) =>
      comparison.mismatches.map((mismatch) => ({ ...mismatch, reparseDialect: again[index]! })),
    ),
  ];
  const failure = [first, ...rest].find((comparison) => comparison.failure !== null)?.failure ?? null;
  const verdict = failure !== null ? 'error' : mismatches.length > 0 ? 'fail' : 'pass';
  const answer = outcome!.kind === 'answer' ? outcome!.answer : null;
  return { case: testCase, verdict: verdict, mismatches, failure, answer, compared: first.compared };
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
