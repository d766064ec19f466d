/** All benchmarks, one suite after the other. `bench/run.ts` starts it from its build. */
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { thisMachine } from '../../src/bench/machine.js';
import type { Report, Section } from '../../src/bench/result.js';
import { sectionTable } from '../../src/bench/table.js';
import { textTable } from '../../src/text/table.js';
import { projectRoot } from '../root.js';
import { acpTransports } from './acp-transports.js';
import { arcp } from './arcp.js';
import { bindings } from './bindings.js';
import { child } from './child.js';
import { coldStart } from './cold-start.js';
import { connections } from './connections.js';
import type { RaceTiming } from './contest.js';
import { holdGoals } from './goal-results.js';
import { grammars } from './grammars.js';
import { growth } from './growth.js';
import { isolated } from './isolated.js';
import { packets } from './packets.js';
import { printing } from './printing.js';
import { readingFrames, readingPackets, spans } from './reading.js';
import { registry } from './registry.js';
import { rejecting } from './rejecting.js';
import { sessions } from './sessions.js';
import { versions } from './versions.js';

const SUITES: Readonly<Record<string, (timing: RaceTiming) => Promise<Section[]>>> = {
  accp: readingFrames,
  aacp: readingPackets,
  spans,
  printing,
  rejecting,
  sessions,
  packets,
  registry,
  connections,
  'acp-transports': acpTransports,
  bindings,
  arcp,
  growth,
  grammars,
  memory: async () => child<Section[]>('memory-child.js', [], ['--expose-gc']),
  'cold-start': coldStart,
  isolated,
  goals: async () => [holdGoals('unseen').section],
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: Object.keys(SUITES).join(',') },
      rounds: { type: 'string', default: '61' },
    },
  });
  const names = values.only.split(',');
  const unknown = names.find((name) => !Object.hasOwn(SUITES, name));
  const rounds = Number(values.rounds);
  if (unknown !== undefined || !Number.isInteger(rounds) || rounds < 1) {
    console.error(`Usage: npm run bench -- [--only ${Object.keys(SUITES).join(',')}] [--rounds N]`);
    return 2;
  }

  const machine = thisMachine();
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`);
  const sections: Section[] = [];
  // Before the measurements, so that a missing permission does not waste them.
  const folder = path.join(projectRoot(), 'bench/results');
  mkdirSync(folder, { recursive: true });
  accessSync(folder, constants.W_OK);
  for (const name of names) {
    for (const section of await SUITES[name]!({ rounds, turnMs: 2, warmUpMs: 200 })) {
      sections.push(section);
      show(section);
    }
  }
  // A partial run is not recorded.
  if (names.length === Object.keys(SUITES).length) {
    write(folder, { date: new Date().toISOString(), machine, versions: versions(), sections });
  }
  return 0;
}

function show(section: Section): void {
  console.log(`\n${section.title}\n${textTable(sectionTable(section))}`);
  if (section.note !== undefined) console.log(section.note);
  for (const { name, why } of (section.kind === 'race' && section.missing) || []) {
    console.log(`Not measured: ${name} (${why}).`);
  }
}

function write(folder: string, report: Report): void {
  writeFileSync(path.join(folder, 'latest.json'), `${JSON.stringify(report, rounded, 1)}\n`);
  console.log(`\nWritten to ${path.relative(process.cwd(), folder)}; npm run results writes the pages and charts.`);
}

/** Removes insignificant digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}

process.exitCode = await main();
