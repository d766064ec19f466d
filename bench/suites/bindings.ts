/** Frames per second over real connections, and the codec's share of the time. */
import { raceAsync } from '../../src/bench/race.js';
import type { Section } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { openHttp } from '../bindings/http.js';
import { openWebSocket } from '../bindings/websocket.js';
import { type BindingBench, SESSIONS, TEXT_ONLY } from '../bindings/work.js';
import { clearProgress, progress, type RaceTiming } from './contest.js';

/** The frames of one pass. */
const FRAMES = 400;

const BINDINGS: Readonly<Record<string, (frames: number) => Promise<BindingBench>>> = {
  HTTP: openHttp,
  WebSocket: openWebSocket,
};

export async function bindings({ rounds }: RaceTiming): Promise<Section[]> {
  const rows: (readonly (string | number)[])[] = [];
  for (const [name, open] of Object.entries(BINDINGS)) {
    const bench = await open(FRAMES);
    try {
      const results = await raceAsync(bench.runners, { anchor: TEXT_ONLY, rounds, onRound: progress(name) });
      const [text, sessions] = [TEXT_ONLY, SESSIONS].map((one) => results.find((result) => result.name === one)!);
      const rate = (nanoseconds: number): string => significant((bench.frames * 1e9) / nanoseconds);
      rows.push([
        name,
        rate(text!.nanoseconds.median),
        rate(sessions!.nanoseconds.median),
        `${Math.round(100 * (1 - sessions!.ratio.median))} %`,
      ]);
    } finally {
      await bench.close();
    }
  }
  clearProgress();
  return [
    {
      ...{ kind: 'facts', id: 'bindings', title: 'Exchanges of frames per second over the loopback' },
      columns: ['', 'text only', 'through sessions', 'share of codec and sessions'],
      rows,
      note: 'Both ends in one process, 8 connections; each frame is a tool call, answered by a result of about its length. Text only: the transport without a reader of the frames.',
    },
  ];
}
