import { visible } from '../../text/visible.js';
import { ENCODINGS } from '../../tokens/counter.js';
import { inputName, type Line, readLines } from '../input.js';
import { errorJson, toJson } from '../json.js';
import type { TokenRow } from '../token-rows.js';
import { type Command, choice, type Invocation, notExact, UsageError } from '../usage.js';

/** `pegwire tokens`: how many tokens lines are, and what else could say the same. */
export const tokens: Command = {
  name: 'tokens',
  summary: 'how many tokens frames, packets, JSON and English are, and the same as JSON and TOON',
  takesInput: true,
  takesProtocol: false,
  options: {
    encoding: { type: 'string', description: `NAME  what tokens are counted in: ${ENCODINGS.join(', ')}` },
    dialect: { type: 'string', description: 'NAME  of frames: strict (default) or lenient' },
  },
  details:
    'Of a JSON message (intent, operation, payload), ACCP is its frame without metadata and with mid, seq and ts; of JSON with a task ' +
    'and a domain, AACP is its packet. A member "english" of a JSON message is the same in English, and not part of it. Without the ' +
    'package gpt-tokenizer, counts are estimates; the exit code is 2 then where --encoding asks for an encoding.',
  example: "echo '@planner>req:schedule{task:impl_auth|pri:high}[mid:m1,seq:1]' | pegwire tokens",
  run: async (invocation) => {
    const { output, json } = invocation;
    const encoding = choice(invocation, 'encoding', ENCODINGS);
    const dialect = choice(invocation, 'dialect', ['strict', 'lenient'] as const);
    // Loaded only now: the other commands need none of it.
    const { tokenRow } = await import('../token-rows.js');
    const totals: Totals = { lines: 0, tokens: 0, ...NOTHING };
    let toonMissing = false;
    let exact = true;
    for await (const line of readLines(invocation)) {
      if (line.isCut === true)
        throw new UsageError(
          `${inputName(invocation)}:${line.number}: The line is too long to be counted`,
          'unreadable',
        );
      const row = await tokenRow(line.text, { encoding, dialect });
      const { kind, exact: isExact, toonMissing: isToonMissing, ...counts } = row;
      if (json) await output.result(toJson({ line: line.number, kind, ...counts, encoding, exact: isExact }));
      else {
        if (totals.lines === 0) await output.result(output.paint('bold', HEADER));
        await output.result(rowText(line, row));
      }
      totals.lines++;
      for (const column of COUNTS) if (row[column] !== null) totals[column] = (totals[column] ?? 0) + row[column];
      exact &&= isExact;
      toonMissing ||= isToonMissing;
    }
    if (totals.lines === 0) {
      await tellEmpty(invocation);
      return 1;
    }
    if (json) await output.result(toJson({ total: totals, encoding, exact }));
    else {
      if (totals.lines > 1) await output.result(output.paint('bold', totalText(totals, exact)));
      await output.note(sourceText({ exact, toonMissing }, encoding));
    }
    // Whoever names an encoding wants its counts.
    if (!exact && invocation.options['encoding'] !== undefined) throw notExact(encoding);
    return 0;
  },
};

const COUNTS = ['tokens', 'body', 'jsonPretty', 'json', 'toon', 'accp', 'accpEnvelope', 'aacp', 'english'] as const;
const TITLES = [
  ...['tokens', 'no metadata', 'JSON pretty', 'JSON', 'TOON'],
  ...['ACCP', 'ACCP with envelope', 'AACP', 'English'],
] as const;
/** The sums before the first row: a column in which nothing was counted has none. */
const NOTHING = {
  ...{ body: null, jsonPretty: null, json: null, toon: null },
  ...{ accp: null, accpEnvelope: null, aacp: null, english: null },
};

type Totals = { lines: number; tokens: number } & Record<Exclude<(typeof COUNTS)[number], 'tokens'>, number | null>;

/** Characters of a line that its row shows. */
const SHOWN = 48;

const HEADER = `${'line'.padStart(6)}  ${'kind'.padEnd(7)}  ${TITLES.join('  ')}  text`;

function rowText({ number, text }: Line, row: TokenRow): string {
  const shown = visible(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
  return `${String(number).padStart(6)}  ${row.kind.padEnd(7)}  ${cells(row, row.exact)}  ${shown}`;
}

function totalText(totals: Totals, exact: boolean): string {
  return `${'total'.padStart(6)}  ${' '.repeat(7)}  ${cells(totals, exact)}`;
}

/** An estimate has a tilde, and what there is not a dash. */
function cells(counts: Readonly<Record<(typeof COUNTS)[number], number | null>>, exact: boolean): string {
  return COUNTS.map((column, index) => {
    const count = counts[column];
    const text = count === null ? '-' : `${exact ? '' : '~'}${count}`;
    return text.padStart(TITLES[index]!.length);
  }).join('  ');
}

function sourceText({ exact, toonMissing }: Pick<TokenRow, 'exact' | 'toonMissing'>, encoding: string): string {
  const counted = exact
    ? `Counted in ${encoding}`
    : 'Estimated: gpt-tokenizer is not installed (npm install gpt-tokenizer)';
  const toon = toonMissing ? '; no TOON: @toon-format/toon is not installed (npm install @toon-format/toon)' : '';
  return `${counted}. JSON and TOON say what a line says without its metadata${toon}. A dash: there is no such form of a line.`;
}

async function tellEmpty({ json, output }: Invocation): Promise<void> {
  const message = 'The input is empty: it holds no text';
  await output.note(json ? errorJson('empty', message) : `${message}.`);
}
