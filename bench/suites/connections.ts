/** JSON-RPC over pipes: ours, a bare loop, and the official SDK of ACP. */
import type { RaceGroup, Section } from '../../src/bench/result.js';
import { BARE } from '../connections/agents.js';
import { child } from './child.js';
import type { RaceTiming } from './contest.js';

/** In a separate process: after other suites, any reader of long strings takes up to three times as long. */
export async function connections({ rounds }: RaceTiming): Promise<Section[]> {
  return [
    {
      ...{
        kind: 'race',
        id: 'connections',
        title: 'JSON-RPC messages per second',
        unit: 'message',
        anchor: BARE,
        groups: child<RaceGroup[]>('connections-child.js', [String(rounds)]),
      },
      note: 'Pipes in memory, pieces of 64 KiB: read, call, answer, write. The bare loop splits lines, parses, looks up the method in a Map, awaits it and stringifies; it checks nothing. Agents without support for batches get the same calls one by one.',
    },
  ];
}
