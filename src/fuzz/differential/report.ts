/** Formats the findings of a differential run as text. */
import { codeFrame } from '../../text/code-frame.js';
import { visible } from '../../text/visible.js';
import { type Difference, type DisagreementKind, treeDifference } from './oracle.js';
import type { DifferentialReport, Finding } from './run.js';
import { type Answer, type Failure, type Json, requestLine } from './target.js';

/** Lines of a crash that are shown. */
const LAST_LINES = 8;
/** The longest request that is put into a shell command, in UTF-16 code units. */
const LONGEST_REQUEST = 1_000;

const TITLES: Readonly<Record<DisagreementKind, string>> = {
  'accepts-invalid': 'accepts an invalid text',
  'rejects-valid': 'rejects a valid text',
  'different-tree': 'returns another tree',
  'different-canonical': 'returns a different canonical text',
  crash: 'crashes',
  hang: 'does not answer in time',
  memory: 'takes too much memory',
  garbage: 'does not follow the adapter protocol',
};

/** Formats one finding. @param file the file that it was saved to, if any */
export function findingText(finding: Finding, number: number, file: string | null): string {
  const { target, kind, input, original, disagreement, count } = finding;
  const times = count === 1 ? '' : ` (seen ${count} times)`;
  const frame = codeFrame(input, placeOf(finding), { name: 'smallest text' }).split('\n');
  const rows: readonly (readonly [label: string, text: string | null])[] = [
    ['sent', shortened(ascii(input))],
    ['expected', expected(finding)],
    ['basis', finding.basis],
    ['actual', actual(finding)],
    ['shrunk from', input === original ? null : shortened(ascii(original))],
    ['try it', tryIt(finding)],
    ['saved as', file === null ? null : visible(file)],
  ];
  return [
    `${number}. ${visible(target)} ${TITLES[kind]}${times}`,
    `   ${disagreement.message}`,
    ...frame.map((line) => `   ${line}`),
    ...rows.flatMap(([label, text]) => (text === null ? [] : [`   ${`${label}:`.padEnd(13)}${text}`])),
  ].join('\n');
}

/** Formats the summary of a run. @param again the shell command that repeats it */
export function summaryText(report: DifferentialReport, seed: number, again: string): string {
  const { language, dialect, valid, invalid, targets, findings, stopped } = report;
  const name = dialect === null ? language : `${language} (${dialect})`;
  const read = valid + invalid;
  return [
    `${stopped === null ? 'Read' : 'Stopped after'} ${read} texts of ${name}: ${valid} valid, ${invalid} invalid. Seed ${seed}.`,
    ...(stopped === 'findings' ? [`Stopped at ${findings.length} findings. Fix these first, then run again.`] : []),
    ...targets.map((target) => {
      const own = findings.filter((finding) => finding.target === target.name).length;
      const agrees = `${visible(target.name)} agrees with the reference on ${target.agreed}`;
      if (target.disagreed === 0) return `${agrees} texts and disagrees on none.`;
      return `${agrees} texts and disagrees on ${target.disagreed}, with ${own === 1 ? 'one cause' : `${own} causes`}.`;
    }),
    `Repeat this run: ${again}`,
  ].join('\n');
}

function placeOf({ reference, input }: Finding): { start: number; end: number } {
  if (!reference.ok && reference.offset !== undefined) return { start: reference.offset, end: reference.offset + 1 };
  return { start: 0, end: input.length };
}

function expected(finding: Finding): string {
  const { kind, reference } = finding;
  if (!reference.ok) return rejection(reference);
  if (kind === 'different-canonical') return `the canonical text ${ascii(reference.canonical)}`;
  const difference = kind === 'different-tree' ? treesOf(finding) : null;
  return difference === null
    ? accepted(reference)
    : `${valueAt(difference.expected, difference)}, of the tree ${shortened(ascii(reference.ast))}`;
}

function actual(finding: Finding): string {
  const { kind, disagreement } = finding;
  const { outcome } = disagreement;
  if (outcome.kind !== 'answer') return failure(outcome);
  const { answer } = outcome;
  if (!answer.ok) return rejection(answer);
  if (kind === 'different-canonical') return `the canonical text ${ascii(answer.canonical)}`;
  const difference = kind === 'different-tree' ? treesOf(finding) : null;
  return difference === null
    ? accepted(answer)
    : `${valueAt(difference.actual, difference)}, of the tree ${shortened(ascii(answer.ast))}`;
}

function rejection({ code, offset, message }: Extract<Answer, { ok: false }>): string {
  const place = offset === undefined ? '' : ` at offset ${offset}`;
  const words = message === undefined || message === '' ? '' : `: ${shortened(visible(message))}`;
  return `rejected${code === undefined ? '' : ` with ${visible(code)}`}${place}${words}`;
}

function accepted({ ast, canonical }: Extract<Answer, { ok: true }>): string {
  const parts = [
    ...(canonical === undefined ? [] : [`with the canonical text ${shortened(ascii(canonical))}`]),
    ...(ast === undefined ? [] : [`as ${shortened(ascii(ast))}`]),
  ];
  return ['accepted', ...parts].join(', ');
}

function treesOf({ reference, disagreement: { outcome } }: Finding): Difference | null {
  if (!reference.ok || reference.ast === undefined || outcome.kind !== 'answer' || !outcome.answer.ok) return null;
  return outcome.answer.ast === undefined ? null : treeDifference(reference.ast, outcome.answer.ast);
}

function valueAt(value: Json | undefined, { path }: Difference): string {
  const shown = value === undefined ? 'nothing' : shortened(ascii(value));
  return `${shown} ${path === '' ? 'as the root' : `at ${path}`}`;
}

function failure(outcome: Failure): string {
  const note = outcome.note === undefined ? '' : ` (${outcome.note})`;
  switch (outcome.kind) {
    case 'hang':
      return `no answer within ${outcome.timeoutMs} ms${note}`;
    case 'memory':
      return `no answer before it used more than ${Math.round(outcome.maxBytes / 2 ** 20)} MiB${note}`;
    case 'crash':
      return `no answer; the program ended${note}\n${lastLines(outcome.detail)}`;
    case 'garbage':
      return `not an answer: ${visible(outcome.detail)}${note}`;
  }
}

/** The last lines that a program wrote before it ended; they contain the error. */
function lastLines(detail: string): string {
  const lines = detail.split('\n').filter((line) => line.trim() !== '');
  return lines
    .slice(-LAST_LINES)
    .map((line) => `       | ${visible(line)}`)
    .join('\n');
}

/** A shell command that sends this text alone to the program; null if it would be too long, or if the target is not a program. */
function tryIt({ command, dialect, input }: Finding): string | null {
  const request = requestLine(dialect === null ? { input } : { input, dialect });
  if (command === null || request.length > LONGEST_REQUEST) return null;
  return `printf '%s\\n' '${request.replaceAll("'", "'\\''")}' | ${visible(command)}`;
}

function ascii(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
