import path from 'node:path';
import type { JsonObject } from '../../accp/codec/index.js';
import { raceChart } from '../../bench/chart.js';
import { thisMachine } from '../../bench/machine.js';
import { measureOwn, type OwnMessage, UnusableMessage } from '../../bench/own-messages.js';
import type { Section } from '../../bench/result.js';
import { shortRun } from '../../bench/short.js';
import { sectionTable } from '../../bench/table.js';
import { makeFolders } from '../../storage/paths.js';
import { textTable } from '../../text/table.js';
import { loadTokenCounter } from '../../tokens/load-counter.js';
import { UsageError } from '../io/errors.js';
import { tryFolder, writeText, writing } from '../io/files.js';
import { readLines } from '../io/input.js';
import { toJson } from '../io/json.js';
import { packageVersion } from '../io/package.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { duration, text, value } from '../options/option.js';

const DURATION = 10_000;

export const command = defineCommand({
  takes: 'optional-protocol',
  details: 'Without a protocol, measures both. Compares with JSON.parse and the other parsers that are installed.',
  options: {
    duration: value(
      'DURATION',
      'Measure for about this long, at most 1h (default: 10s)',
      duration({ isPositive: true, max: '1h' }),
    ),
    output: text('DIR', 'Also write results.json and charts to this folder'),
    corpus: text('FILE.jsonl', 'Measure your own messages, one JSON object per line, as JSON and as ACCP frames'),
  },
  example: ['pegwire bench accp', 'pegwire bench --corpus messages.jsonl'],
  run: async (invocation) => {
    const { protocols, output, json } = invocation;
    const { duration: durationMs = DURATION, output: folder } = invocation.options;
    const machine = thisMachine();
    const run = { date: new Date().toISOString(), pegwire: packageVersion(), machine };
    // Fails before a long run.
    if (folder !== undefined) await tryFolder(folder);
    const { corpus } = invocation.options;
    const messages = corpus === undefined ? null : await ownMessages(corpus, invocation);
    const measured: Section[] = [];
    if (json) await output.result(toJson(run));
    else
      await output.note(`pegwire ${packageVersion()}, Node ${machine.node}, ${machine.cpu} (${machine.cores} cores)`);
    const showing = (name: string) => {
      const showShare = output.bar(`Measuring ${name}`);
      return async (what: string, share: number) => {
        showShare(share, 1, what);
        // Lets the event loop handle signals.
        await new Promise((resolve) => setImmediate(resolve));
      };
    };
    const runs: (() => Promise<readonly Section[]>)[] =
      corpus !== undefined && messages !== null
        ? [() => measureMessages(corpus, messages, durationMs, showing('messages'))]
        : protocols.map(
            ({ name }) =>
              () =>
                shortRun(name, { durationMs: durationMs / protocols.length, onProgress: showing(name) }),
          );
    for (const start of runs) {
      const sections = await start();
      output.progress('');
      for (const section of sections) await show(section, invocation);
      measured.push(...sections);
    }
    if (folder !== undefined) {
      const results = { ...run, sections: measured };
      try {
        await save(folder, results, `${machine.cpu}, Node ${machine.node}`);
      } catch (thrown) {
        // With --json, stdout has the results already.
        if (!json) await output.result(toJson(results));
        throw thrown;
      }
      await output.note(`Results written to ${folder}`);
    }
    return 0;
  },
});

/** Reads a file of messages. @throws UsageError if it cannot be read, is empty, or a line is not a JSON object */
async function ownMessages(file: string, invocation: Invocation): Promise<readonly OwnMessage[]> {
  if (invocation.protocols.length === 1 && invocation.protocols[0]!.name === 'aacp') {
    throw new UsageError('--corpus measures ACCP frames only');
  }
  const messages: OwnMessage[] = [];
  for await (const { number, text } of readLines({ ...invocation, file })) {
    const value = parsedObject(text);
    if (value === null) throw new UsageError(`${file}: line ${number} is not a JSON object`);
    messages.push({ line: number, value });
  }
  if (messages.length === 0) throw new UsageError(`${file}: there are no messages`);
  return messages;
}

function parsedObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

async function measureMessages(
  file: string,
  messages: readonly OwnMessage[],
  durationMs: number,
  onProgress: (what: string, share: number) => Promise<void>,
): Promise<readonly Section[]> {
  const counter = await loadTokenCounter('o200k_base');
  try {
    return await measureOwn(messages, { durationMs, counter, onProgress });
  } catch (thrown) {
    throw thrown instanceof UnusableMessage ? new UsageError(`${file}: ${thrown.message}`) : thrown;
  }
}

async function show(section: Section, { output, json }: Pick<Invocation, 'output' | 'json'>): Promise<void> {
  if (json) {
    await output.result(toJson(section));
    return;
  }
  await output.result(`\n${output.paint('bold', section.title)}\n${textTable(sectionTable(section), output.width)}`);
  if (section.kind === 'facts') {
    if (section.note !== undefined) await output.note(section.note);
    return;
  }
  for (const { name, why } of section.missing ?? []) await output.note(`Not measured: ${name} (${why})`);
}

async function save(
  folder: string,
  results: { readonly sections: readonly Section[] },
  machine: string,
): Promise<void> {
  writing(folder, () => makeFolders(folder));
  writeText(path.join(folder, 'results.json'), `${toJson(results)}\n`);
  for (const section of results.sections) {
    // Sections with several groups are tables.
    if (section.kind === 'race' && section.groups.length === 1)
      writeText(path.join(folder, `${section.id}.svg`), raceChart(section, machine));
  }
}
