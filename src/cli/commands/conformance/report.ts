/** Conformance results as text. */
import {
  ASPECTS,
  type Aspect,
  type CaseResult,
  type ConformanceCase,
  type Mismatch,
} from '../../../fuzz/differential/conformance.js';
import type { Json } from '../../../fuzz/differential/target.js';
import { codeFrame } from '../../../text/code-frame.js';
import { visible } from '../../../text/visible.js';
import type { Paint } from '../../io/output.js';
import type { CaseSet } from './cases.js';

export type Tally = ReturnType<typeof tallyOf>;

const NAMES: Readonly<Record<Aspect, string>> = {
  verdict: 'verdict',
  tree: 'tree',
  canonical: 'canonical text',
  code: 'code',
  offset: 'offset',
};
const SHOWN = 200;

/** Counts the results. */
export function tallyOf(results: readonly CaseResult[]) {
  const count = (verdict: CaseResult['verdict']): number => results.filter((one) => one.verdict === verdict).length;
  // The answers that had the aspect, and the cases that have it.
  const compared = ASPECTS.map((aspect) => {
    const answers = results.filter((one) => one.compared.includes(aspect)).length;
    const of = results.filter((one) => isExpected(aspect, one.case)).length;
    return [aspect, { answers, of }] as const;
  });
  return {
    cases: results.length,
    pass: count('pass'),
    fail: count('fail'),
    error: count('error'),
    compared: Object.fromEntries(compared) as Record<Aspect, { answers: number; of: number }>,
  };
}

function isExpected(aspect: Aspect, { expected }: ConformanceCase): boolean {
  if (aspect === 'verdict') return true;
  if (expected.ok)
    return aspect === 'tree' ? expected.ast !== undefined : aspect === 'canonical' && expected.canonical !== undefined;
  return aspect === 'code' ? expected.code !== undefined : aspect === 'offset' && expected.offset !== undefined;
}

/** Describes a case that did not pass. */
export function failureText(result: CaseResult, draft: string, paint: Paint): string {
  const { id, section } = result.case;
  const where = section === undefined ? draft : `${draft}, section ${section}`;
  const head = `${paint(['red', 'bold'], result.verdict === 'error' ? 'ERROR' : 'FAIL')} ${paint('bold', id)} (${where})`;
  const wrong = result.mismatches.map(mismatchText);
  return [head, inputText(result), ...wrong, ...failureLines(result)].join('\n');
}

/** Formats the input, with a caret at the given or expected offset. */
function inputText({ case: { input, dialect, expected }, answer }: CaseResult): string {
  const refusal = answer?.ok === false ? answer : undefined;
  const at = refusal?.offset ?? (expected.ok ? undefined : expected.offset);
  const text =
    at === undefined
      ? `  ${dialect}: ${shortened(visible(input))}`
      : codeFrame(input, { start: at, end: at + 1 }, { name: dialect });
  return refusal?.message === undefined ? text : `${text}\n  message: ${shortened(visible(refusal.message))}`;
}

function mismatchText({ aspect, path, reparseDialect, expected, actual }: Mismatch): string {
  const what = `wrong ${NAMES[aspect]}${path === undefined ? '' : ` at ${path === '' ? 'the root' : visible(path)}`}`;
  const where = reparseDialect === undefined ? '' : `, when its canonical text is parsed again (${reparseDialect})`;
  const show = aspect === 'verdict' ? verdictText : valueText;
  return `  ${what}${where}\n    expected  ${show(expected)}\n    actual    ${show(actual)}`;
}

function verdictText(accepted: Json | undefined): string {
  return accepted === true ? 'accepted' : 'rejected';
}

function valueText(value: Json | undefined): string {
  return value === undefined ? 'nothing' : shortened(visible(JSON.stringify(value)));
}

function shortened(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}... (${text.length} characters)` : text;
}

function failureLines({ failure }: CaseResult): readonly string[] {
  if (failure === null) return [];
  const note = failure.note === undefined ? [] : [`  ${failure.note}`];
  switch (failure.kind) {
    case 'crash':
      return [`  crash: ${failure.detail.split('\n').map(visible).join('\n    ')}`, ...note];
    case 'garbage':
      return [`  invalid answer: ${visible(failure.detail)}`, ...note];
    case 'hang':
      return [`  no answer within ${failure.timeoutMs / 1000} s`, ...note];
    case 'memory':
      return [`  more than ${failure.maxBytes / 2 ** 20} MiB of memory`, ...note];
  }
}

/** Formats the summary. */
export function summaryText(results: readonly CaseResult[], { skipped }: CaseSet, paint: Paint): string {
  const files = [...new Set(results.map((one) => one.case.file))];
  const rows = files.map((file) => [file, tallyOf(results.filter((one) => one.case.file === file))] as const);
  const width = Math.max(...files.map((file) => file.length));
  const all = tallyOf(results);
  const judged = ASPECTS.filter((aspect) => all.compared[aspect].of > 0).map((aspect) => {
    const { answers, of } = all.compared[aspect];
    return `${NAMES[aspect]} of ${answers} of ${of}`;
  });
  return [
    ...rows.map(([file, tally]) => `${file.padEnd(width)}  ${countsText(tally, paint)}`),
    `Compared where the answers had it: ${judged.join(', ')}.`,
    ...skipped.map((what) => paint('dim', `Skipped: ${what}.`)),
    paint('bold', `${all.cases} cases: ${countsText(all, paint)}`),
  ].join('\n');
}

function countsText({ pass, fail, error }: Tally, paint: Paint): string {
  const wrong = (count: number, noun: string): string[] => (count === 0 ? [] : [paint('red', `${count} ${noun}`)]);
  return [`${pass} passed`, ...wrong(fail, 'failed'), ...wrong(error, 'without an answer')].join(', ');
}
