/** Explanations of the fallback encoder as data: patterns by their names, and not with all that they hold. */
import type { Candidate, FallbackExplanation } from '../../aacp/fallback/index.js';

export function explanationData(explanation: FallbackExplanation): object {
  const { match, candidates } = explanation;
  return {
    ...explanation,
    match: match === null ? null : candidateData(match),
    candidates: candidates.map(candidateData),
  };
}

function candidateData(candidate: Candidate): object {
  const { source } = candidate;
  const shown =
    source.kind === 'rule'
      ? { kind: source.kind, id: source.rule.id, phrase: source.phrase }
      : { kind: source.kind, key: source.entry.key, instruction: source.entry.instruction };
  return { ...candidate, source: shown };
}
