/** What a differential run has found, for people who see it for the first time. */
import { codeFrame } from '../../text/code-frame.js';
import { visible } from '../../text/visible.js';
import type { DisagreementKind } from './judge.js';
import type { DifferentialReport, Finding } from './run.js';
import type { Answer } from './target.js';

const TITLES: Readonly<Record<DisagreementKind, string>> = {
  'accepts-invalid': 'accepts what is not valid',
  'refuses-valid': 'refuses what is valid',
  'different-tree': 'reads another tree',
  'different-canonical': 'prints another canonical text',
  crash: 'crashes',
  hang: 'does not answer in time',
  memory: 'takes too much memory',
  garbage: 'answers with something else than the protocol has',
};

/** One finding: what is wrong, the text with a caret, what was expected and what was said. */
export function findingText(finding: Finding, number: number, file: string | null): string {
  const { target, kind, input, original, reference, disagreement, count } = finding;
  const { outcome, message } = disagreement;
  const times = count === 1 ? '' : ` (seen ${count} times)`;
  return [
    `${number}. ${visible(target)} ${TITLES[kind]}${times}`,
    `   ${message}`,
    ...codeFrame(input, placeOf(finding), { name: 'smallest text' })
      .split('\n')
      .map((line) => `   ${line}`),
    `   as JSON:   ${ascii(input)}`,
    ...(input === original ? [] : [`   cut from:  ${shortened(ascii(original))}`]),
    `   expected:  ${expected(reference)}`,
    `   answer:    ${outcome.kind === 'answer' ? shortened(ascii(outcome.answer)) : outcome.kind}`,
    ...(file === null ? [] : [`   saved as:  ${visible(file)}`]),
  ].join('\n');
}

/** The end of a run: counts, and how to have the same again. */
export function summaryText(report: DifferentialReport, seed: number, again: string): string {
  const { language, dialect, valid, invalid, targets, findings, stopped } = report;
  const name = dialect === null ? language : `${language} (${dialect})`;
  const read = valid + invalid;
  return [
    `${stopped ? 'Stopped after' : 'Read'} ${read} texts of ${name}: ${valid} valid, ${invalid} not. Seed ${seed}.`,
    ...targets.map((target) => {
      const own = findings.filter((finding) => finding.target === target.name).length;
      const agrees = `${visible(target.name)} agrees with the reference on ${target.agreed}`;
      if (target.disagreed === 0) return `${agrees}, and disagrees on none.`;
      return `${agrees}, and disagrees on ${target.disagreed}, for ${own === 1 ? 'one cause' : `${own} causes`}.`;
    }),
    `The same again: ${again}`,
  ].join('\n');
}

/** Where the reference refuses it; else where what the tree has differently begins; else the whole text. */
function placeOf({ reference, input }: Finding): { start: number; end: number } {
  if (!reference.ok && reference.offset !== undefined) return { start: reference.offset, end: reference.offset + 1 };
  return { start: 0, end: input.length };
}

function expected(reference: Answer): string {
  if (!reference.ok) {
    const code = reference.code === undefined ? '' : ` with ${reference.code}`;
    return `refused${code}${reference.offset === undefined ? '' : ` at offset ${reference.offset}`}`;
  }
  const { ast, canonical } = reference;
  if (ast === undefined && canonical === undefined) return 'accepted';
  return shortened(
    ascii({ ok: true, ...(ast === undefined ? {} : { ast }), ...(canonical === undefined ? {} : { canonical }) }),
  );
}

/** JSON that every terminal and editor shows as it is. */
function ascii(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
