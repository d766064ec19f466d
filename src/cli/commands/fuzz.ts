import path from 'node:path';
import process from 'node:process';
import { coverageHtml, coverageReport, coverageTable } from '../../fuzz/coverage/report.js';
import { createTracker, type Tracker } from '../../fuzz/coverage/tracker.js';
import type { Language } from '../../fuzz/differential/language.js';
import { findingText, summaryText } from '../../fuzz/differential/report.js';
import {
  type DifferentialReport,
  type Finding,
  fixtureFile,
  fixtureOf,
  runDifferential,
} from '../../fuzz/differential/run.js';
import { TargetError } from '../../fuzz/differential/target.js';
import { GrammarError } from '../../fuzz/grammar/compile.js';
import { type FuzzInput, fuzzInputs } from '../../fuzz/mutants/mutate.js';
import { processTarget } from '../../fuzz/process/process-target.js';
import { NoSentenceError } from '../../fuzz/sentences/generate.js';
import { makeFolders } from '../../storage/paths.js';
import { createRandom } from '../../text/random.js';
import { libraryFault, UsageError } from '../io/errors.js';
import { tryFile, tryFolder, writeText, writing } from '../io/files.js';
import { readLines } from '../io/input.js';
import { toJson } from '../io/json.js';
import { labelled } from '../io/output.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { LANGUAGE_OPTIONS, languageOf } from '../options/language.js';
import { NARROWING_OPTIONS } from '../options/narrowing.js';
import { amount, integer, optional, text, texts, value } from '../options/option.js';
import { LIMITED_PROGRAM, processLimits, targetFault } from '../options/shared.js';

/** The default number of inputs, without and with a target. */
const DEFAULT_COUNT = 100;
const DEFAULT_TARGET_COUNT = 20_000;

const positive = integer({ from: 1 });

const OPTIONS = {
  target: texts('CMD', "Test this shell command, for example 'python3 adapter.py'; may be repeated"),
  ...LIMITED_PROGRAM,
  count: value(
    'N',
    `Generate this many inputs (default: ${DEFAULT_COUNT}; with --target ${DEFAULT_TARGET_COUNT})`,
    positive,
  ),
  seed: value(
    'N',
    'Seed of the generator; the same seed gives the same inputs (default: random)',
    integer({ from: 0 }),
  ),
  mutate: optional(
    '[RATIO]',
    'Mutate this fraction of the inputs, 0 to 1 (default: 0, or 0.5 with --target); without RATIO, mutate all',
    amount('a number from 0 to 1', (ratio) => ratio <= 1),
  ),
  corpus: text('FILE', 'Also mutate the lines of this file; a line that is a JSON string is decoded'),
  'max-length': value(
    'N',
    'Generate inputs of at most this many UTF-16 code units, before mutation (default: 160)',
    positive,
  ),
  output: text('DIR', 'Save findings to this folder (default: pegwire-findings)'),
  coverage: optional('[FILE]', 'Report how much of the grammar the inputs cover, or the lines of FILE', (file) => file),
  html: text('FILE', 'Write the coverage to this HTML file'),
  ...LANGUAGE_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'grammar',
  details: [
    'Without --target, prints valid inputs. With --target, sends inputs to each program, compares the answers with those of pegwire, ' +
      'and reports each disagreement once, with the shortest input that shows it. The exit code is 1 if there is one.',
    'A target reads one JSON request per line and answers each with one line; the guide src/fuzz/README.md describes the protocol. ' +
      'Code in a grammar file runs; use only files that you trust.',
  ],
  options: OPTIONS,
  example: ['pegwire fuzz accp --count 10 --seed 1', "pegwire fuzz aacp --target 'python3 adapter.py'"],
  run: fuzz,
});

async function fuzz(invocation: Run): Promise<number> {
  const language = languageOf(invocation);
  const { coverage, html, target: targets } = invocation.options;
  const tracker = coverage === undefined && html === undefined ? null : createTracker(language.grammar);
  // Fails before a long run.
  if (html !== undefined) tryFile(html);
  try {
    if (typeof coverage === 'string') {
      const file = coverage === '-' ? undefined : coverage;
      for await (const { text } of readLines({ ...invocation, file })) tracker!.add(fromLine(text));
      await showCoverage(invocation, tracker!);
      return 0;
    }
    const code =
      targets.length === 0
        ? await print(invocation, language, tracker)
        : await compare(invocation, language, targets, tracker);
    if (tracker !== null) await showCoverage(invocation, tracker);
    return code;
  } catch (thrown) {
    if (thrown instanceof NoSentenceError || thrown instanceof GrammarError) throw libraryFault(thrown);
    if (thrown instanceof TargetError) throw targetFault(thrown);
    throw thrown;
  }
}

async function print(invocation: Run, language: Language, tracker: Tracker | null): Promise<number> {
  const { json, output } = invocation;
  const { seed = newSeed() } = invocation.options;
  // The coverage table replaces the inputs.
  const isShown = invocation.options.coverage === undefined;
  const { count = DEFAULT_COUNT } = invocation.options;
  const showDone = output.bar('Generating');
  let done = 0;
  for (const { text, kinds, valid } of await inputsOf(invocation, language, seed, { count, mutate: 0 })) {
    showDone(done++, count);
    tracker?.add(text);
    if (isShown) await output.result(json ? toJson({ text, valid, mutation: kinds }) : oneLine(text));
  }
  await output.note(`Seed: ${seed}`);
  return 0;
}

/** Returns a text as one visible line, as JSON if necessary. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters
  return /[\x00-\x1f\x7f-\x9f\u2028\u2029]|^"|^$/.test(text) ? JSON.stringify(text) : text;
}

/** Reverses {@link oneLine}. */
function fromLine(line: string): string {
  if (!line.startsWith('"')) return line;
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === 'string' ? text : line;
  } catch {
    return line;
  }
}

async function compare(
  invocation: Run,
  language: Language,
  commands: readonly string[],
  tracker: Tracker | null,
): Promise<number> {
  const { json, output, options } = invocation;
  const { seed = newSeed() } = invocation.options;
  const { output: folder = 'pegwire-findings', count = DEFAULT_TARGET_COUNT } = options;
  await tryFindings(invocation, folder);
  const inputs = await inputsOf(invocation, language, seed, { count: DEFAULT_TARGET_COUNT, mutate: 0.5 });
  const stopping = new AbortController();
  const stop = (): void => {
    // 128 plus the number of the signal, as in shells.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
    void output.note('\nStopping and keeping the findings; press Ctrl-C again to stop now.');
  };
  process.on('SIGINT', stop);
  const targets = commands.map((command) => processTarget(command, processLimits(options)));
  let number = 0;
  let shown: Promise<void> = Promise.resolve();
  let fault: UsageError | undefined;
  const onFinding = (finding: Finding): void => {
    const fixture = fixtureOf(finding, language);
    let file: string | null = null;
    let unsaved = '';
    try {
      // A disagreement that does not repeat is not a test case.
      if (finding.reproducible) file = save(fixture, folder);
    } catch (thrown) {
      fault ??= thrown as UsageError;
      unsaved = `   not saved: ${(thrown as Error).message}\n   fixture:   ${JSON.stringify(fixture)}\n`;
    }
    number++;
    const record = json ? toJson({ ...fixture, file }) : `${findingText(finding, number, file)}\n${unsaved}`;
    shown = shown.then(() => output.result(record));
  };
  let report: DifferentialReport;
  const started = performance.now();
  const showDone = output.bar('Testing');
  try {
    report = await runDifferential({
      language,
      targets,
      inputs: tracked(inputs, tracker),
      signal: stopping.signal,
      onFinding,
      onProgress: ({ inputs: done, findings }) => {
        const rate = Math.round(done / ((performance.now() - started) / 1_000));
        showDone(done, count, `${done} of ${count} inputs, ${rate} per second, ${findings} findings`);
      },
    });
  } finally {
    process.removeListener('SIGINT', stop);
    await Promise.all(targets.map((target) => target.close()));
  }
  await shown;
  const again = [
    'pegwire fuzz',
    invocation.grammar ?? language.name,
    `--seed ${seed} --count ${count}`,
    ...asGiven(invocation),
  ];
  const { findings: _findings, ...counts } = report;
  if (json) await output.result(toJson({ summary: { ...counts, seed, findings: report.findings.length } }));
  else await output.result(summaryText(report, seed, again.join(' ')));
  // An unwritable default folder is not an error.
  if (fault !== undefined && options.output !== undefined) throw fault;
  return report.findings.length > 0 ? 1 : 0;
}

/** Options that change the inputs, besides seed and count. */
const INPUT_OPTIONS = ['mutate', 'corpus', 'max-length', 'start', ...Object.keys(NARROWING_OPTIONS), 'target'];

/** Returns the given options that change the inputs, quoted for a shell. */
function asGiven({ given }: Run): readonly string[] {
  return INPUT_OPTIONS.flatMap((name) => {
    const values = given[name] ?? [];
    return values.map((one) => (one === true ? `--${name}` : `--${name} '${one.replaceAll("'", "'\\''")}'`));
  });
}

function* tracked(inputs: Iterable<FuzzInput>, tracker: Tracker | null): Generator<string> {
  for (const { text } of inputs) {
    tracker?.add(text);
    yield text;
  }
}

async function inputsOf(
  invocation: Run,
  { grammar, words }: Language,
  seed: number,
  defaults: { readonly count: number; readonly mutate: number },
): Promise<Iterable<FuzzInput>> {
  const { corpus, count = defaults.count, mutate = defaults.mutate } = invocation.options;
  const seeds: string[] = [];
  if (corpus !== undefined)
    for await (const line of readLines({ ...invocation, file: corpus === '-' ? undefined : corpus }))
      seeds.push(fromLine(line.text));
  return fuzzInputs(grammar, {
    seed,
    seeds,
    words,
    count,
    maxLength: invocation.options['max-length'] ?? 160,
    mutantRatio: mutate === true ? 1 : mutate,
  });
}

/** Checks the folder before a long run. If the default folder cannot be written, findings are only printed. @throws UsageError if that of --output cannot be written */
async function tryFindings({ options, json, output }: Run, folder: string): Promise<void> {
  try {
    await tryFolder(folder);
  } catch (thrown) {
    if (options.output !== undefined || !(thrown instanceof UsageError)) throw thrown;
    const message = `${thrown.message}; findings are not saved; set --output to another folder`;
    await output.note(
      json ? toJson({ notice: message }) : labelled('warning', thrown.code, `${message}.`, output.paintNote),
    );
  }
}

function save(fixture: ReturnType<typeof fixtureOf>, folder: string): string {
  const file = path.join(folder, fixtureFile(fixture));
  writing(folder, () => makeFolders(folder));
  writeText(file, `${JSON.stringify(fixture, null, 2)}\n`);
  return file;
}

async function showCoverage({ json, output, options }: Run, tracker: Tracker): Promise<void> {
  const { coverage, html: page } = options;
  if (coverage !== undefined) {
    const report = coverageReport(tracker);
    await output.result(json ? toJson({ coverage: report }) : coverageTable(report, output.width));
  }
  if (page === undefined) return;
  const html = coverageHtml(tracker);
  try {
    writeText(page, html);
  } catch (thrown) {
    await output.result(html);
    throw thrown;
  }
  await output.note(`Coverage written to ${page}`);
}

function newSeed(): number {
  return createRandom(Date.now() | 0).integer(0, 2 ** 31 - 1);
}
