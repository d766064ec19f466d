/** ARCP: reading its messages, durable jobs, and what a session takes that has missed much. */
import type { FactSection, RaceGroup, Section } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { BARE_ECHO } from '../arcp/echo.js';
import { JSON_PARSE, messageRunners, messageTexts } from '../arcp/messages.js';
import type { Resumed } from '../arcp/resume.js';
import { child } from './child.js';
import { holdRaces, type Pace } from './contest.js';

/** Messages that were missed. */
const MISSED = [1000, 10_000, 100_000];

export async function arcp(pace: Pace): Promise<Section[]> {
  const texts = messageTexts();
  const heat = {
    ...{ name: 'one of each type', units: texts.length, runners: messageRunners(texts) },
    characters: texts.reduce((sum, { length }) => sum + length, 0),
  };
  const reading = {
    id: 'arcp-messages',
    title: 'Reading and checking ARCP messages',
    unit: 'message',
    anchor: JSON_PARSE,
  };
  // Each type has a schema of its own, which has to be warm.
  return [await holdRaces(reading, [heat], { ...pace, warmUp: 2000 }), echo(pace.rounds), resuming()];
}

function echo(rounds: number): Section {
  return {
    ...{ kind: 'race', id: 'arcp-echo', title: 'Durable echo jobs a second, over a WebSocket and a file', unit: 'job' },
    anchor: BARE_ECHO,
    groups: [child<RaceGroup>('arcp-child.js', ['echo', String(Math.min(15, rounds))], ['--expose-gc'])],
    note: 'The bare loop parses, keeps the command and three messages in a transaction with all others of the turn, and sends them. It checks nothing, and nothing of it could go on after its end.',
  };
}

function resuming(): FactSection {
  const rows = MISSED.map((events) => {
    const { seconds, megabytes } = child<Resumed>('arcp-child.js', ['resume', String(events)], ['--expose-gc']);
    return [events, significant(seconds), significant(megabytes)];
  });
  return {
    ...{ kind: 'facts', id: 'arcp-resume', title: 'A session that takes what it has missed' },
    columns: ['messages', 'seconds', 'growth of the process, MB'],
    rows,
    note: 'Both ends in one process; the messages come from the file as the client takes them.',
  };
}
