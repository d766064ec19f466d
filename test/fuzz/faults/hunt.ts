/** Looking for a planted fault the way `pegwire fuzz --target` looks for real ones. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aacpLanguage } from '../../../src/aacp/language/language.js';
import { accpLanguage } from '../../../src/accp/language/language.js';
import type { Language } from '../../../src/fuzz/differential/language.js';
import { type Finding, runDifferential } from '../../../src/fuzz/differential/run.js';
import type { Answer } from '../../../src/fuzz/differential/target.js';
import { fuzzInputs } from '../../../src/fuzz/mutants/mutate.js';
import { processTarget } from '../../../src/fuzz/process/process-target.js';

/** A piece of the reader's source, which stands there once, and what to put in its place. */
export interface Fault {
  readonly id: string;
  readonly protocol: 'accp' | 'aacp';
  /** What the reader does wrong then. */
  readonly what: string;
  readonly find: string;
  readonly replace: string;
  /** Whether it shows in the time that reading takes. */
  readonly hangs?: true;
}

export interface HuntOptions {
  readonly seed: number;
  /** Texts that are tried at most. */
  readonly count: number;
  readonly onProgress?: ((inputs: number) => void) | undefined;
}

/** What came of looking for one fault. */
export interface Hunt {
  /** The first finding, or null. */
  readonly finding: Finding | null;
  /** Texts that were asked for until then, the one that shows the fault included. */
  readonly inputs: number;
}

const ADAPTER = fileURLToPath(new URL('adapter.mjs', import.meta.url));

/** Milliseconds for one text where a hang is looked for; and elsewhere, where a busy machine must not be taken for one. */
const SHORT_TIME = 2_000;
const LONG_TIME = 60_000;

/** Findings whose smallest text is shorter than this, in UTF-16 code units, tell people what is wrong. */
export const SHORT = 60;

export function plantedFaults(): readonly Fault[] {
  return JSON.parse(readFileSync(new URL('faults.json', import.meta.url), 'utf8')) as Fault[];
}

/** The command that runs the reader with a fault in it; without one, the sound reader. */
export function adapterCommand(protocol: Fault['protocol'], fault?: Fault): string {
  return [process.execPath, ADAPTER, protocol, ...(fault === undefined ? [] : [fault.id])]
    .map((word) => `"${word}"`)
    .join(' ');
}

/** @returns a function that looks for a fault of the protocol; the texts and what they should read as are made once */
export function createHunter(protocol: Fault['protocol'], options: HuntOptions): (fault?: Fault) => Promise<Hunt> {
  const { seed, count, onProgress } = options;
  const language = withMemory(protocol === 'accp' ? accpLanguage() : aacpLanguage());
  const inputs = recorded(textsOf(language, seed, count));
  return async (fault) => {
    const timeLimit = fault?.hangs ? SHORT_TIME : LONG_TIME;
    const target = processTarget(adapterCommand(protocol, fault), {
      name: fault?.id ?? 'sound',
      timeLimitMs: timeLimit,
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

/** Gives the same texts each time, and draws each of them once. */
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
