/** What `--explain` prints. */
import type { Candidate, FallbackExplanation } from '../../aacp/fallback/index.js';
import { quoted, visible } from '../../text/visible.js';
import type { Line } from '../io/input.js';
import { toJson } from '../io/json.js';
import type { Invocation } from '../options/command.js';
import { explanationData } from './explanation-data.js';

const HEADS: Readonly<Record<FallbackExplanation['tier'], string>> = {
  cache: 'from the registry',
  pattern: 'from a pattern',
  model: 'from the model',
  none: 'the model would be asked',
};

/** What would happen, then each pattern that came near, with why it serves or does not. */
export async function tellExplanation(
  { json, output, options }: Invocation,
  line: Line | null,
  explanation: FallbackExplanation,
): Promise<void> {
  if (json) {
    const place = line === null ? {} : { line: line.number };
    await output.result(toJson({ ...place, ok: true, explain: explanationData(explanation) }));
    return;
  }
  const { tier, text, match, candidates } = explanation;
  const head = tier === 'none' && options['model'] === undefined ? 'a model would have to be asked' : HEADS[tier];
  const place = line === null ? '' : `${line.number}: `;
  await output.result(`${place}${output.paint('bold', head)}: ${visible(text)}`);
  for (const candidate of match === null ? candidates : [match, ...candidates]) {
    for (const shown of candidateLines(candidate)) await output.result(`  ${shown}`);
  }
}

function candidateLines(candidate: Candidate): readonly string[] {
  const { source, score, shared, extra, missing, slots, refusal, reason } = candidate;
  const name =
    source.kind === 'rule'
      ? `rule ${source.rule.id}${source.phrase === null ? '' : ` ${quoted(source.phrase)}`}`
      : `registry ${source.entry.key.slice(0, 12)} ${quoted(source.entry.instruction)}`;
  const values = Object.entries(slots).map(([slot, value]) => `${slot} ${quoted(value)}`);
  const words = [
    ['in both', shared],
    ['only in the instruction', extra],
    ['only in the pattern', missing],
    ['slots', values],
  ] as const;
  return [
    `${score.toFixed(2)} ${visible(name)}`,
    `     ${refusal === null ? 'serves' : `refused (${refusal})`}: ${visible(reason)}`,
    ...words.filter(([, list]) => list.length > 0).map(([what, list]) => `     ${what}: ${visible(list.join(', '))}`),
  ];
}
