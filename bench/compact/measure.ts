/** Writes the messages in each notation, by what both sides know before. */
import { createRegistry, type SequenceMode } from '../../src/accp/codec/index.js';
import { learnRegistry } from '../../src/accp/compact/index.js';
import type { TokenCounter } from '../../src/tokens/counter.js';
import type { AgentMessage } from '../corpus/agent-messages.js';
import { type JsonTables, JsonWriter, newTables } from './json-codec.js';
import { type Group, type RegistrySize, type Row, type Scenario, typeOf } from './report.js';
import { corpusRound, generatedRound } from './samples.js';
import { bodyOf, FORMS, type SessionSettings, type Written, writeSession } from './session-texts.js';

interface Known {
  readonly registry: ReturnType<typeof createRegistry>;
  readonly jsonTables: JsonTables;
  readonly size: RegistrySize;
}

export interface Measured {
  readonly scenario: Scenario;
  readonly written: Written;
}

const corpusTypes = new Set(corpusRound(1).map(typeOf));

function groupOf(message: AgentMessage): Group {
  if (message.id < 'F') return 'corpus';
  return corpusTypes.has(typeOf(message)) ? 'same types' : 'other types';
}

/** Learns from messages what both sides know before a session. JSON gets the same strings. */
function learn(sample: readonly AgentMessage[], counter: TokenCounter): Known {
  const json = learnRegistry(sample.map(bodyOf), { counter });
  const { shapes = [], strings = [], agents = [] } = json.compact ?? {};
  const tables = newTables();
  const writer = new JsonWriter(counter, tables);
  for (const message of sample) writer.write(bodyOf(message));
  const known = [...new Set([...agents, ...strings])].map((text, number) => [text, number] as const);
  return {
    registry: createRegistry(json),
    jsonTables: { shapes: tables.shapes, strings: new Map(known) },
    size: { messages: sample.length, shapes: shapes.length, strings: strings.length, agents: agents.length },
  };
}

/** Writes all sessions; the counter chooses the spellings. */
export function writeAll(counter: TokenCounter) {
  const measured: Measured[] = [];
  const announcements: Record<string, number> = {};
  const run = (
    scenarios: readonly Scenario[],
    rounds: readonly (readonly AgentMessage[])[],
    settings: Partial<SessionSettings> = {},
  ): void => {
    for (const conversation of new Set(rounds[0]!.map(({ id }) => id[0]))) {
      const own = rounds.map((round) => round.filter(({ id }) => id[0] === conversation));
      const session = writeSession(own, { counter, ...settings });
      for (const [index, scenario] of scenarios.entries()) {
        for (const written of session.rounds[index]!) measured.push({ scenario, written });
      }
      announcements[`${scenarios[0]}, ${conversation! < 'F' ? 'corpus' : 'generated'}`] = counter.count(
        session.announcements.join('\n'),
      );
    }
  };

  const corpus = [corpusRound(1), corpusRound(2)] as const;
  const generated = [generatedRound(1), generatedRound(2)] as const;
  const sequences: readonly (readonly [SequenceMode, Scenario, Scenario])[] = [
    ['session', 'first', 'second'],
    ['sender', 'first by agent', 'second by agent'],
  ];
  for (const rounds of [corpus, generated]) {
    for (const [sequence, first, second] of sequences) run([first, second], rounds, { sequence });
  }
  const ofCorpus = learn(corpus[0], counter);
  const ofGenerated = learn(generated[0], counter);
  const ofTuning = learn([...generatedRound(1, 'tuning'), ...generatedRound(2, 'tuning')], counter);
  run(['other part'], [corpus[0]], ofGenerated);
  run(['other part'], [generated[0]], ofCorpus);
  run(['own types'], [corpus[1]], ofCorpus);
  run(['own types'], [generated[0]], ofTuning);
  const registries = { corpus: ofCorpus.size, generated: ofGenerated.size, 'generated, other half': ofTuning.size };
  return { measured, announcements, registries };
}

/** Counts the notations of a message, without envelope and with it. */
export function countsOf({ body, whole }: Written, count: (text: string) => number): number[] {
  return [body, whole].flatMap((part) => FORMS.map((form) => count(part[form])));
}

export function rowOf(
  { scenario, written: { message, frames } }: Measured,
  tokens: readonly (readonly number[])[],
): Row {
  return {
    ...{ scenario, group: groupOf(message), id: message.id, kind: message.kind, frames },
    isAnswer: message.answers !== undefined && message.schema !== 'ST',
    tokens,
  };
}
