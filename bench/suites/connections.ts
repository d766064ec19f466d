/** JSON-RPC over pipes: ours, beside a bare loop and the official SDK of ACP. */
import { raceAsync } from '../../src/bench/race.js';
import type { RaceGroup, Section } from '../../src/bench/result.js';
import { BARE } from '../connections/agents.js';
import { echoRunners, inputOf, LOADS } from '../connections/work.js';
import { clearProgress, type Pace, progress } from './contest.js';

export async function connections({ rounds }: Pace): Promise<Section[]> {
  const groups: RaceGroup[] = [];
  for (const load of LOADS) {
    const standings = await raceAsync(echoRunners(load), { anchor: BARE, rounds, onRound: progress(load.name) });
    groups.push({ name: load.name, units: load.messages, characters: inputOf(load).length, standings });
  }
  clearProgress();
  return [
    {
      ...{
        kind: 'race',
        id: 'connections',
        title: 'JSON-RPC messages a second',
        unit: 'message',
        anchor: BARE,
        groups,
      },
      note: 'Pipes in memory, pieces of 64 KiB: read, call, answer, write. The bare loop splits lines, parses, looks up the method in a Map, awaits it and stringifies; it checks nothing. Where an agent knows no batches, it gets the same calls by themselves.',
    },
  ];
}
