import path from 'node:path';
import { raceChart } from '../../bench/chart.js';
import { thisMachine } from '../../bench/machine.js';
import type { RaceSection } from '../../bench/result.js';
import { shortRun } from '../../bench/short.js';
import { sectionTable, textTable } from '../../bench/table.js';
import { tryFolder, writeText, writing } from '../io/files.js';
import { toJson } from '../io/json.js';
import { packageVersion } from '../io/package.js';
import { type Command, type Invocation, UsageError } from '../options/command.js';

const SECONDS = 10;

/** `pegwire bench`: throughput on this machine, against JSON and what else is installed. */
export const bench: Command = {
  name: 'bench',
  summary: 'how fast messages are read and printed here, against JSON and what else is installed',
  takesInput: false,
  takesProtocol: true,
  options: {
    seconds: { type: 'string', description: `N  about how long to measure (default ${SECONDS})` },
    output: { type: 'string', description: 'DIR  also write results.json there, and charts' },
  },
  example: 'pegwire bench accp',
  run: async (invocation) => {
    const { protocols, output, json } = invocation;
    const seconds = secondsOf(invocation);
    const machine = thisMachine();
    const run = { date: new Date().toISOString(), pegwire: packageVersion(), machine };
    const folder = invocation.options['output'];
    // Before anything is measured: nobody waits for results that cannot be kept.
    if (typeof folder === 'string') await tryFolder(folder);
    const measured: RaceSection[] = [];
    if (json) await output.result(toJson(run));
    else
      await output.note(`pegwire ${packageVersion()}, Node ${machine.node}, ${machine.cpu} (${machine.cores} cores)`);
    for (const { name } of protocols) {
      const onProgress = async (what: string, share: number): Promise<void> => {
        output.progress(`${name}: ${what}, ${Math.round(share * 100)} %`);
        // A signal to stop is heard only between two turns.
        await new Promise((resolve) => setImmediate(resolve));
      };
      const sections = await shortRun(name, { seconds: seconds / protocols.length, onProgress });
      output.progress('');
      for (const section of sections) await show(section, invocation);
      measured.push(...sections);
    }
    if (typeof folder === 'string') {
      const results = { ...run, sections: measured };
      try {
        await save(folder, results, `${machine.cpu}, Node ${machine.node}`);
      } catch (thrown) {
        // With --json, all of it stands on stdout.
        if (!json) await output.result(toJson(results));
        throw thrown;
      }
      await output.note(`The results are written to ${folder}.`);
    }
    return 0;
  },
};

async function show(section: RaceSection, { output, json }: Invocation): Promise<void> {
  if (json) {
    await output.result(toJson(section));
    return;
  }
  await output.result(`\n${output.paint('bold', section.title)}\n${textTable(sectionTable(section))}`);
  for (const { name, why } of section.missing ?? []) await output.note(`Not measured: ${name} (${why}).`);
}

async function save(
  folder: string,
  results: { readonly sections: readonly RaceSection[] },
  machine: string,
): Promise<void> {
  const { makeFolders } = await import('../../storage/place.js');
  writing(folder, () => makeFolders(folder));
  writeText(path.join(folder, 'results.json'), `${toJson(results)}\n`);
  for (const section of results.sections) {
    // Of one group of messages; the others are tables of many.
    if (section.groups.length === 1) writeText(path.join(folder, `${section.id}.svg`), raceChart(section, machine));
  }
}

function secondsOf({ options }: Invocation): number {
  const given = options['seconds'];
  if (given === undefined) return SECONDS;
  const seconds = Number(given);
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw new UsageError(`--seconds is a number from above 0 to 3600, not "${String(given)}"`);
}
