/** Requests per second over the transports of ACP, against two bare WebSockets. */
import type { RunnerResult } from '../../src/bench/race.js';
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { JSON_RPC, REQUESTS, TEXTS } from '../connections/transports.js';
import { child } from './child.js';
import type { RaceTiming } from './contest.js';

export async function acpTransports({ rounds }: RaceTiming): Promise<FactSection[]> {
  const results = child<RunnerResult[]>('acp-transports-child.js', [String(Math.min(15, rounds))]);
  const parsed = results.find(({ name }) => name === JSON_RPC)!.ratio.median;
  return [
    {
      ...{ kind: 'facts', id: 'acp-transports', title: 'Requests of ACP per second over the loopback' },
      columns: ['', 'requests per second', `x ${TEXTS}`, 'quartiles', `x ${JSON_RPC}`],
      rows: results.map(({ name, nanoseconds, ratio }) => [
        name,
        significant((REQUESTS * 1e9) / nanoseconds.median),
        significant(ratio.median),
        `${significant(ratio.low)}-${significant(ratio.high)}`,
        significant(ratio.median / parsed),
      ]),
      note: 'Both ends in one process, 32 requests at a time, each answered by its params. The bare WebSockets check nothing: the first exchanges prepared texts without reading them; the second parses each, looks up the method or the pending request in a Map, and prints, as any client must. Both write each message with a system call of its own; pegwire writes all messages of one turn with one, which is why it can be faster. Over HTTP/2, each message of the client is a request of its own, sent when the one before is accepted.',
    },
  ];
}
