/** ARCP: reading its messages, durable jobs, calls over each transport, and receiving many missed messages. */
import type { FactSection, RaceGroup, Section } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { BARE_ECHO } from '../arcp/echo.js';
import { JSON_PARSE, messageRunners, messageTexts } from '../arcp/messages.js';
import type { Resumed } from '../arcp/resume.js';
import { WEBSOCKET } from '../arcp/transports.js';
import type { TransportCalls } from './arcp-child.js';
import { child } from './child.js';
import { type RaceTiming, runRaces } from './contest.js';

/** The numbers of missed messages. */
const MISSED = [1000, 10_000, 100_000];

export async function arcp(timing: RaceTiming): Promise<Section[]> {
  const texts = messageTexts();
  const group = {
    ...{ name: 'one of each type', units: texts.length, runners: messageRunners(texts) },
    characters: texts.reduce((sum, { length }) => sum + length, 0),
  };
  const reading = {
    id: 'arcp-messages',
    title: 'Reading and checking ARCP messages',
    unit: 'message',
    anchor: JSON_PARSE,
  };
  // Each type has a schema of its own, which needs a warm-up.
  const races = await runRaces(reading, [group], { ...timing, warmUpMs: 2000 });
  return [races, echo(timing.rounds), transports(timing.rounds), resuming()];
}

function echo(rounds: number): Section {
  return {
    ...{
      kind: 'race',
      id: 'arcp-echo',
      title: 'Durable echo jobs per second, over a WebSocket and a file',
      unit: 'job',
    },
    anchor: BARE_ECHO,
    groups: ['echo', 'echo-thread'].map((what) =>
      child<RaceGroup>('arcp-child.js', [what, String(Math.min(15, rounds))], ['--expose-gc']),
    ),
    note: 'The bare loop parses, stores the command and three messages in a transaction with all others of the turn, and sends them. It checks nothing, and cannot resume after its end.',
  };
}

function transports(rounds: number): Section {
  const args = ['transports', String(Math.min(15, rounds))];
  const { group, missing } = child<TransportCalls>('arcp-child.js', args, ['--expose-gc']);
  return {
    ...{
      kind: 'race',
      id: 'arcp-transports',
      title: 'Direct calls over each transport, against a WebSocket',
      unit: 'call',
    },
    anchor: WEBSOCKET,
    groups: [group],
    missing: missing ?? [],
    note: 'Client and runtime are in one process; both check all messages.',
  };
}

function resuming(): FactSection {
  const rows = MISSED.map((events) => {
    const { seconds, megabytes } = child<Resumed>('arcp-child.js', ['resume', String(events)], ['--expose-gc']);
    return [events, significant(seconds), significant(megabytes)];
  });
  return {
    ...{ kind: 'facts', id: 'arcp-resume', title: 'A session that receives missed messages' },
    columns: ['messages', 'seconds', 'growth of the process, MB'],
    rows,
    note: 'Both ends in one process; the messages are read from the file as the client receives them.',
  };
}
