/** Searches for a planted fault in the same way as `pegwire fuzz --target` searches for real ones. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aacpLanguage } from '../../../src/aacp/language/language.js';
import { accpLanguage } from '../../../src/accp/language/language.js';
import type { Language } from '../../../src/fuzz/differential/language.js';
import { type Finding, runDifferential } from '../../../src/fuzz/differential/run.js';
import type { Answer } from '../../../src/fuzz/differential/target.js';
import { fuzzInputs } from '../../../src/fuzz/mutants/mutate.js';
import { processTarget } from '../../../src/fuzz/process/process-target.js';

/** A piece of the reader's source, which occurs once, and its replacement. */
export interface Fault {
  readonly id: string;
  readonly protocol: 'accp' | 'aacp';
  /** The resulting fault of the reader. */
  readonly what: string;
  readonly find: string;
  readonly replace: string;
  /** `true` if the fault makes the reader slow. */
  readonly hangs?: true;
}

export interface HuntOptions {
  readonly seed: number;
  /** The most texts that are tried. */
  readonly count: number;
  readonly onProgress?: ((inputs: number) => void) | undefined;
}

/** The result of the search for one fault. */
export interface Hunt {
  /** The first finding, or null. */
  readonly finding: Finding | null;
  /** The number of texts until then, including the one that shows the fault. */
  readonly inputs: number;
}

const ADAPTER = fileURLToPath(new URL('adapter.mjs', import.meta.url));

/** Milliseconds for one text in a search for hangs; and in others, where a busy machine must not look like a hang. */
const SHORT_TIME = 2_000;
const LONG_TIME = 60_000;

/** Findings whose smallest text is shorter than this, in UTF-16 code units, are readable. */
export const SHORT = 60;

export function plantedFaults(): readonly Fault[] {
  return JSON.parse(readFileSync(new URL('faults.json', import.meta.url), 'utf8')) as Fault[];
}

/** The shell command that runs the reader with a fault, or without one. */
export function adapterCommand(protocol: Fault['protocol'], fault?: Fault): string {
  return [process.execPath, ADAPTER, protocol, ...(fault === undefined ? [] : [fault.id])]
    .map((word) => `"${word}"`)
    .join(' ');
}

/** Returns a function that searches for a fault of the protocol. The texts and their expected results are computed once. */
export function createHunter(protocol: Fault['protocol'], options: HuntOptions): (fault?: Fault) => Promise<Hunt> {
  const { seed, count, onProgress } = options;
  const language = withMemory(protocol === 'accp' ? accpLanguage() : aacpLanguage());
  const inputs = recorded(textsOf(language, seed, count));
  return async (fault) => {
    const timeLimit = fault?.hangs ? SHORT_TIME : LONG_TIME;
    const target = processTarget(adapterCommand(protocol, fault), {
      name: fault?.id ?? 'sound',
      timeoutMs: timeLimit,
    });
    try {
      const report = await runDifferential({
        language,
        targets: [target],
        inputs: inputs(),
        maxFindings: 1,
        onProgress: (progress) => onProgress?.(progress.inputs),
      });
      const finding = report.findings[0] ?? null;
      if (finding === null) return { finding, inputs: report.valid + report.invalid };
      return { finding, inputs: [...inputs()].indexOf(finding.original) + 1 };
    } finally {
      await target.close();
    }
  };
}

function* textsOf({ grammar, words }: Language, seed: number, count: number): Generator<string> {
  for (const { text } of fuzzInputs(grammar, { seed, count, words })) yield text;
}

/** Yields the same texts each time, and generates each of them once. */
function recorded(source: Iterator<string>): () => Iterable<string> {
  const drawn: string[] = [];
  return function* () {
    for (let at = 0; ; at++) {
      if (at === drawn.length) {
        const next = source.next();
        if (next.done) return;
        drawn.push(next.value);
      }
      yield drawn[at]!;
    }
  };
}

function withMemory(language: Language): Language {
  const known = new Map<string, Answer>();
  const read = (text: string): Answer => {
    const answer = known.get(text) ?? language.read(text);
    known.set(text, answer);
    return answer;
  };
  return { ...language, read };
}
