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
export interface Fault {
  readonly aspect: Aspect;
  /** Of a tree: where, as a JSON Pointer. */
  readonly path?: string;
  /** Present where it is the answer to the case's canonical text: the dialect that it was to be read in. */
  readonly rereadIn?: string;
  /** What is absent is `undefined`. */
  readonly expected: Json | undefined;
  readonly given: Json | undefined;
}

/** What came of a case. */
export interface CaseResult {
  readonly case: ConformanceCase;
  readonly verdict: 'pass' | 'fail' | 'error';
  /** Of `fail`, one at least. */
  readonly faults: readonly Fault[];
  /** Of `error`: why there is no answer. */
  readonly failure: Failure | null;
  /** What was said of the case's own text, if anything. */
  readonly answer: Answer | null;
  /** What could be judged of it. */
  readonly judged: readonly Aspect[];
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
  const first = judgeOutcome(outcome!, expected);
  const rest = others.map((other) => judgeOutcome(other, { ok: true, canonical }));
  const faults = [
    ...first.faults,
    ...rest.flatMap((judgement, index) => judgement.faults.map((fault) => ({ ...fault, rereadIn: again[index]! }))),
  ];
  const failure = [first, ...rest].find((judgement) => judgement.failure !== null)?.failure ?? null;
  const verdict = failure !== null ? 'error' : faults.length > 0 ? 'fail' : 'pass';
  const answer = outcome!.kind === 'answer' ? outcome!.answer : null;
  return { case: asked, verdict, faults, failure, answer, judged: first.judged };
}

interface Judgement {
  readonly faults: readonly Fault[];
  readonly failure: Failure | null;
  readonly judged: readonly Aspect[];
}

export function judgeOutcome(outcome: Outcome, expected: Expected): Judgement {
  if (outcome.kind !== 'answer') return { faults: [], failure: outcome, judged: [] };
  const faults: Fault[] = [];
  const judged: Aspect[] = [];
  const judge = (aspect: Aspect, want: Json | undefined, given: Json | undefined): void => {
    if (want === undefined || given === undefined) return;
    judged.push(aspect);
    const difference = treeDifference(want, given);
    if (difference === null) return;
    const { path } = difference;
    faults.push({
      aspect,
      ...(aspect === 'tree' ? { path } : {}),
      expected: difference.expected,
      given: difference.given,
    });
  };
  judge('verdict', expected.ok, outcome.answer.ok);
  judgeMembers(outcome.answer, expected, judge);
  return { faults, failure: null, judged };
}

function judgeMembers(
  answer: Answer,
  expected: Expected,
  judge: (aspect: Aspect, want: Json | undefined, given: Json | undefined) => void,
): void {
  if (answer.ok && expected.ok) {
    judge('tree', expected.ast, answer.ast);
    judge('canonical', expected.canonical, answer.canonical);
  } else if (!answer.ok && !expected.ok) {
    judge('code', expected.code, answer.code);
    judge('offset', expected.offset, answer.offset);
  }
}
