/** JSON-RPC over pipes: ours, beside a bare loop and the official SDK of ACP. */
import type { RaceGroup, Section } from '../../src/bench/result.js';
import { BARE } from '../connections/agents.js';
import { child } from './child.js';
import type { Pace } from './contest.js';

/** In a process of its own: after other suites, long strings take up to three times as long there, whoever reads them. */
export async function connections({ rounds }: Pace): Promise<Section[]> {
  return [
    {
      ...{
        kind: 'race',
        id: 'connections',
        title: 'JSON-RPC messages a second',
        unit: 'message',
        anchor: BARE,
        groups: child<RaceGroup[]>('connections-child.js', [String(rounds)]),
      },
      note: 'Pipes in memory, pieces of 64 KiB: read, call, answer, write. The bare loop splits lines, parses, looks up the method in a Map, awaits it and stringifies; it checks nothing. Where an agent knows no batches, it gets the same calls by themselves.',
    },
  ];
}
