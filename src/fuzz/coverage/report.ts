import { textTable } from '../../text/table.js';
import { GOAL_KINDS, type Goal, type GoalKind, goalsOf, type Tracker } from './tracker.js';

/** The number of goals that were reached, out of all of them. */
export interface CoverageCount {
  /** Goals that at least one text has reached. */
  readonly covered: number;
  /** All goals. */
  readonly total: number;
}

/** The coverage of one rule: its hits, and the goals inside of it by kind. */
export interface RuleCoverage extends Readonly<Record<GoalKind, CoverageCount>> {
  /** The name of the rule. */
  readonly name: string;
  /** The number of times that the rule matched. */
  readonly hits: number;
  /** The line of the rule in the grammar, starting at 1. */
  readonly line: number;
}

/** The coverage of a grammar as data. */
export interface CoverageReport {
  /** The name of the grammar. */
  readonly grammar: string;
  /** The number of texts that the grammar accepted. */
  readonly texts: number;
  /** The number of texts that the grammar rejected. They count for no goal. */
  readonly rejected: number;
  /** The goals of the whole grammar, by kind. */
  readonly total: Readonly<Record<GoalKind, CoverageCount>>;
  /** One entry for each rule, in the order of the grammar. */
  readonly rules: readonly RuleCoverage[];
  /** The goals that no text has reached, in the order of the grammar. */
  readonly missing: readonly {
    readonly kind: GoalKind;
    readonly name: string;
    readonly line: number;
    readonly column: number;
  }[];
}

/** Summarizes a tracker: the coverage of the whole grammar and of each rule, and the goals that are missing. */
export function coverageReport({ grammar, texts, rejected, hits }: Tracker): CoverageReport {
  const { list } = goalsOf(grammar);
  const isCovered = ({ number }: Goal): boolean => hits[number]! > 0;
  const countsOf = (goals: readonly Goal[]): Readonly<Record<GoalKind, CoverageCount>> => {
    const ofKind = (kind: GoalKind): CoverageCount => {
      const own = goals.filter((goal) => goal.kind === kind);
      return { covered: own.filter(isCovered).length, total: own.length };
    };
    return {
      rule: ofKind('rule'),
      alternative: ofKind('alternative'),
      character: ofKind('character'),
      repetition: ofKind('repetition'),
    };
  };
  const rules = list.flatMap((goal): RuleCoverage[] => {
    if (goal.kind !== 'rule') return [];
    const own = list.filter(({ point }) => point.rule === goal.name);
    return [{ name: goal.name, hits: hits[goal.number]!, line: goal.point.location.start.line, ...countsOf(own) }];
  });
  const missing = list
    .filter((goal) => !isCovered(goal))
    .map(({ kind, name, point }) => {
      const { line, column } = point.location.start;
      return { kind, name, line, column };
    });
  return { grammar: grammar.name, texts, rejected, total: countsOf(list), rules, missing };
}

const MAX_MISSING = 40;

/** Formats a report as a text table: one line for each rule, the totals, and up to 40 of the missing goals. */
export function coverageTable(
  { grammar, texts, rejected, total, rules, missing }: CoverageReport,
  columns?: number,
): string {
  const header = ['rule', 'matches', 'alternatives', 'characters', 'repetitions'];
  const rows = rules.map(({ name, hits, alternative, character, repetition }) => [
    name,
    String(hits),
    ...[alternative, character, repetition].map(shown),
  ]);
  const sum = ['total', shown(total.rule), ...[total.alternative, total.character, total.repetition].map(shown)];
  const kinds = GOAL_KINDS.map((kind) => `${kind}s ${percent(total[kind])}`).join(', ');
  const read = `${texts} texts${rejected === 0 ? '' : ` (and ${rejected} rejected)`}`;
  return [
    `Coverage of the grammar ${grammar} by ${read}: ${kinds}.`,
    '',
    textTable({ header, rows: [...rows, sum] }, columns),
    ...missingLines(missing),
  ].join('\n');
}

function missingLines(missing: CoverageReport['missing']): readonly string[] {
  if (missing.length === 0) return ['', 'No goal is missing.'];
  const shownOnes = missing.slice(0, MAX_MISSING).map(({ name, line, column }) => `  line ${line}:${column}  ${name}`);
  const rest = missing.length - shownOnes.length;
  return ['', `Not reached (${missing.length}):`, ...shownOnes, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}

function shown({ covered, total }: CoverageCount): string {
  return total === 0 ? '-' : `${covered}/${total}`;
}

function percent({ covered, total }: CoverageCount): string {
  return total === 0 ? '-' : `${Math.floor((100 * covered) / total)} %`;
}

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly goals: readonly Goal[];
}

/** Renders the coverage as one self-contained HTML page: the grammar with its covered and uncovered parts highlighted, and the table. */
export function coverageHtml(tracker: Tracker): string {
  const report = coverageReport(tracker);
  const sources = tracker.grammar.sources.map(({ source, text }) => sourceSection(tracker, source, text));
  const title = `Coverage of ${escapeHtml(report.grammar)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>The grammar accepted ${report.texts} texts and rejected ${report.rejected}.
<span class="part">Green</span> parts were reached at least in part, <span class="none">red</span> parts were not; the innermost part
determines the color. Point at a part to see its counts.</p>
${summary(report)}
${sources.join('\n')}
</body>
</html>
`;
}

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { padding: .15rem .8rem; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child { text-align: left; }
pre { line-height: 1.45; tab-size: 2; overflow-x: auto; }
.number { color: #767676; user-select: none; }
.all { background: #d9f2d9; } .part { background: #eef9d0; } .none { background: #ffd6d6; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } td, th { border-color: #444; }
  .all { background: #1f4a1f; } .part { background: #414d14; } .none { background: #6b1d1d; }
}
`;

function summary({ total, rules }: CoverageReport): string {
  const cell = ({ covered, total: all }: CoverageCount): string =>
    all === 0 ? '<td>-</td>' : `<td class="${covered === all ? 'all' : 'none'}">${covered}/${all}</td>`;
  const rows = rules.map(
    ({ name, line, hits, alternative, character, repetition }) =>
      `<tr><td><a href="#line-${line}">${escapeHtml(name)}</a></td><td class="${hits > 0 ? 'all' : 'none'}">${hits}</td>` +
      `${cell(alternative)}${cell(character)}${cell(repetition)}</tr>`,
  );
  const sums = [total.rule, total.alternative, total.character, total.repetition].map(
    (one) => `<th>${percent(one)}</th>`,
  );
  return `<table>
<tr><th>rule</th><th>matches</th><th>alternatives</th><th>characters</th><th>repetitions</th></tr>
${rows.join('\n')}
<tr><th>total</th>${sums.join('')}</tr>
</table>`;
}

function sourceSection(tracker: Tracker, source: string, text: string): string {
  const marks = marksIn(tracker, source);
  const isMain = source === tracker.grammar.sources[0]!.source;
  const lines = highlighted(text, marks, tracker).split('\n');
  const width = String(lines.length).length;
  const numbered = lines.map((line, index) => {
    const id = isMain ? ` id="line-${index + 1}"` : '';
    return `<span class="number"${id}>${String(index + 1).padStart(width)}</span>  ${line}`;
  });
  return `<h2>${escapeHtml(source)}</h2>\n<pre>${numbered.join('\n')}</pre>`;
}

function marksIn({ grammar }: Tracker, source: string): readonly Mark[] {
  const { ofPoint } = goalsOf(grammar);
  return grammar.points.list.flatMap((point) => {
    const goals = ofPoint(point.number);
    const { start, end } = point.location;
    if (goals.length === 0 || point.location.source !== source) return [];
    return [{ start: start.offset, end: end.offset, goals }];
  });
}

/** Wraps each stretch in the color of the innermost mark around it. No stretch crosses a line end. */
function highlighted(text: string, marks: readonly Mark[], { hits }: Tracker): string {
  const owner: (Mark | undefined)[] = new Array(text.length);
  for (const mark of [...marks].sort((a, b) => b.end - b.start - (a.end - a.start)))
    owner.fill(mark, mark.start, mark.end);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const mark = owner[at];
    let end = at + 1;
    while (end < text.length && owner[end] === mark && text[end] !== '\n' && text[end - 1] !== '\n') end++;
    const piece = escapeHtml(text.slice(at, end));
    if (mark === undefined || text[at] === '\n') pieces.push(piece);
    else {
      const reached = mark.goals.filter(({ number }) => hits[number]! > 0).length;
      const state = reached === mark.goals.length ? 'all' : reached > 0 ? 'part' : 'none';
      const title = mark.goals.map(({ name, number }) => `${name}: ${hits[number]}`).join('\n');
      pieces.push(`<span class="${state}" title="${escapeHtml(title).replaceAll('\n', '&#10;')}">${piece}</span>`);
    }
    at = end;
  }
  return pieces.join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
