import type { Language } from './language.js';
import { compareOutcome, type Disagreement, type DisagreementKind, skeletonOf } from './oracle.js';
import { shrinkText } from './shrink.js';
import type { Answer, Json, Outcome, Target } from './target.js';

/** A cause of disagreements between a target and the reference, with the smallest text that shows it. */
export interface Finding {
  /** The name of the target. */
  readonly target: string;
  /** The shell command that starts the target; null if the target is not a program. */
  readonly command: string | null;
  /** The kind of the disagreement. */
  readonly kind: DisagreementKind;
  /** The smallest text found that shows the disagreement. */
  readonly input: string;
  /** The text that it was shrunk from. */
  readonly original: string;
  /** The dialect of the texts; null if the language has no dialects. */
  readonly dialect: string | null;
  /** The answer of the reference to `input`. */
  readonly reference: Answer;
  /** The document and section that the answer follows from; null if unknown. */
  readonly basis: string | null;
  /** The disagreement about `input`. */
  readonly disagreement: Disagreement;
  /** `true` if the disagreement occurred again when the text was sent alone. */
  readonly reproducible: boolean;
  /** The number of texts in the run that were attributed to this cause. */
  count: number;
}

/** The counts of a run so far. */
export interface DifferentialProgress {
  /** Texts that were read. */
  readonly inputs: number;
  /** Disagreements of all targets. */
  readonly disagreements: number;
  /** Findings: disagreements that were shrunk and deduplicated by cause. */
  readonly findings: number;
}

/** The options of {@link runDifferential}. */
export interface DifferentialOptions {
  /** The language, whose reference reader the targets are compared with. */
  readonly language: Language;
  /** The implementations under test. The caller closes them. */
  readonly targets: readonly Target[];
  /** The texts to read, such as those of {@link fuzzInputs}. */
  readonly inputs: Iterable<string>;
  /** The number of texts that are read at the same time. @default 64 */
  readonly concurrency?: number | undefined;
  /** Stops the run if aborted; the report then contains the findings so far. @default none */
  readonly signal?: AbortSignal | undefined;
  /** Called after each text. @default none */
  readonly onProgress?: ((progress: DifferentialProgress) => void) | undefined;
  /** Called with each finding as soon as it is shrunk. @default none */
  readonly onFinding?: ((finding: Finding) => void) | undefined;
  /** Stops the run at this number of findings. @default 100 */
  readonly maxFindings?: number | undefined;
}

/** The result of a differential run. */
export interface DifferentialReport {
  /** The name of the language. */
  readonly language: string;
  /** The dialect; null if the language has no dialects. */
  readonly dialect: string | null;
  /** Texts that the reference accepted. */
  readonly valid: number;
  /** Texts that the reference rejected. */
  readonly invalid: number;
  /** The number of texts on which each target agreed and disagreed with the reference. */
  readonly targets: readonly { readonly name: string; readonly agreed: number; readonly disagreed: number }[];
  /** The findings, in the order in which they were found. */
  readonly findings: readonly Finding[];
  /** The reason that the run ended before the texts were used up: `signal`, or `findings` at `maxFindings`; null if it read all texts. */
  readonly stopped: 'signal' | 'findings' | null;
}

/** Disagreements in a row with the same key that turn out to be known, after which that key is only counted. */
const MAX_REPEATS = 12;

/** Causes that are reported for one key. Beyond these, smallest texts that look different mostly have the same cause. */
const MAX_CAUSES_PER_KEY = 4;

/** The number of time limits that shrinking a hang may take, approximately. */
const MAX_HANGS = 40;
/** Milliseconds that shrinking may take if each reproduction ends the program. */
const MAX_CRASH_SHRINK_MS = 60_000;

/** Appended to the message of a finding that is not reproducible. */
const NOT_REPRODUCED = 'It occurred among other texts, and not again when this text was sent alone.';

/** Kinds whose key identifies the cause, whatever the text looks like. */
const KEY_IDENTIFIES_CAUSE: ReadonlySet<DisagreementKind> = new Set(['crash', 'hang', 'memory', 'garbage']);

interface Bucket {
  known: number;
  readonly causes: Map<string, Finding>;
}

/** Milliseconds after which the loop yields to timers and abort signals. */
const MAX_BLOCKING_MS = 5;

/**
 * Reads each text with the reference and with all targets, and investigates the disagreements: each is shrunk to the
 * smallest text that shows it, and those whose smallest texts have the same shape are reported once.
 *
 * @throws TargetError if a target cannot be tested
 * @example
 * const report = await runDifferential({ language, targets: [target], inputs: [...].map(({ text }) => text) });
 */
export async function runDifferential(options: DifferentialOptions): Promise<DifferentialReport> {
  const { language, targets, concurrency = 64, signal, maxFindings = 100 } = options;
  const skeleton = skeletonOf(language.grammar);
  const findings: Finding[] = [];
  const buckets = new Map<string, Bucket>();
  const tallies = targets.map(({ name }) => ({ name, agreed: 0, disagreed: 0 }));
  let valid = 0;
  let inputs = 0;
  let disagreements = 0;
  const isOver = (): boolean => signal?.aborted === true || findings.length >= maxFindings;

  const ask = async (target: Target, text: string, reference = language.read(text)): Promise<Disagreement | null> => {
    const request = language.dialect === null ? { input: text } : { input: text, dialect: language.dialect };
    return compareOutcome(reference, await target.read(request), text);
  };

  const investigate = async (target: Target, original: string, found: Disagreement): Promise<void> => {
    if (findings.length >= maxFindings) return;
    const name = [target.name, found.kind, found.key].join('\n');
    const bucket = buckets.get(name) ?? { known: 0, causes: new Map() };
    buckets.set(name, bucket);
    const causeOf = (text: string): string => (KEY_IDENTIFIES_CAUSE.has(found.kind) ? '' : skeleton(text));
    const before = bucket.causes.get(causeOf(original));
    if (before !== undefined) before.count++;
    if (before !== undefined || bucket.known >= MAX_REPEATS || bucket.causes.size >= MAX_CAUSES_PER_KEY) return;
    const same = async (text: string): Promise<boolean> => {
      const other = await ask(target, text);
      return other?.kind === found.kind && other.key === found.key;
    };
    const isReproducible = await same(original);
    const end = performance.now() + shrinkTimeMs(found.outcome);
    const input =
      isOver() || !isReproducible
        ? original
        : await shrinkText(original, {
            reproduces: same,
            grammar: language.grammar,
            // Each reproduction ends the program. More of them at once would only end it more often.
            concurrency: found.outcome.kind === 'answer' ? undefined : 1,
            shouldStop: () => isOver() || performance.now() > end,
          });
    const cause = causeOf(input);
    const known = bucket.causes.get(cause);
    if (known !== undefined) {
      known.count++;
      bucket.known++;
      return;
    }
    bucket.known = 0;
    const disagreement = isReproducible
      ? ((await ask(target, input)) ?? found)
      : { ...found, message: `${found.message} ${NOT_REPRODUCED}` };
    const { kind } = disagreement;
    const reference = language.read(input);
    const finding = {
      target: target.name,
      command: target.command ?? null,
      kind,
      input,
      original,
      dialect: language.dialect,
      reference,
      basis: language.basisOf?.(reference, kind) ?? null,
      disagreement,
      reproducible: isReproducible,
      count: 1,
    };
    bucket.causes.set(cause, finding);
    findings.push(finding);
    options.onFinding?.(finding);
  };

  const source = options.inputs[Symbol.iterator]();
  let isUsedUp = false;
  let lastPause = performance.now();
  // One at a time: two that are shrunk concurrently would find the same cause.
  let investigations: Promise<void> = Promise.resolve();
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      // Targets that answer synchronously would block the event loop, and with it timers and abort signals.
      if (performance.now() - lastPause > MAX_BLOCKING_MS) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        lastPause = performance.now();
      }
      const next = source.next();
      if (next.done) {
        isUsedUp = true;
        return;
      }
      const text = next.value;
      const reference = language.read(text);
      const results = await Promise.all(targets.map((target) => ask(target, text, reference)));
      inputs++;
      if (reference.ok) valid++;
      for (const [index, disagreement] of results.entries()) {
        const tally = tallies[index]!;
        if (disagreement === null) tally.agreed++;
        else {
          tally.disagreed++;
          disagreements++;
          investigations = investigations.then(() => investigate(targets[index]!, text, disagreement));
        }
      }
      await investigations;
      options.onProgress?.({ inputs, disagreements, findings: findings.length });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await investigations;
  return {
    language: language.name,
    dialect: language.dialect,
    valid,
    invalid: inputs - valid,
    targets: tallies,
    findings,
    stopped: isUsedUp ? null : signal?.aborted ? 'signal' : 'findings',
  };
}

function shrinkTimeMs(outcome: Outcome): number {
  if (outcome.kind === 'answer') return Number.POSITIVE_INFINITY;
  return outcome.kind === 'hang' ? MAX_HANGS * outcome.timeoutMs : MAX_CRASH_SHRINK_MS;
}

/** A conformance case made of a finding, in the form of `test/conformance/README.md`. */
export interface Fixture {
  /** The identifier of the case. The same text has the same identifier on every machine. */
  readonly id: string;
  /** The expectation in a few words. */
  readonly name: string;
  /** The text of the case. */
  readonly input: string;
  /** The dialect; absent if the language has none. */
  readonly dialect?: string;
  /** The expected tree. */
  readonly ast?: Json;
  /** The expected canonical text. */
  readonly canonical?: string;
  /** The expected error, if the text is not valid. */
  readonly error?: { readonly code?: string; readonly offset?: number };
  /** The document and section that the expectation follows from. */
  readonly basis?: string;
  /** The message of the disagreement. */
  readonly note: string;
  /** The target that disagreed, how, and its answer, if any. */
  readonly found: { readonly target: string; readonly kind: DisagreementKind; readonly answer: Answer | null };
}

/** Converts a finding to a conformance case. */
export function fixtureOf(finding: Finding, { name: language, dialect }: Language): Fixture {
  const { target, kind, input, reference, disagreement } = finding;
  const { outcome, message } = disagreement;
  return {
    id: `${language}/${kind}-${hash(`${language}\n${dialect}\n${kind}\n${input}`)}`,
    name: EXPECTATIONS[kind],
    input,
    ...(dialect === null ? {} : { dialect }),
    ...expectation(reference),
    ...(finding.basis === null ? {} : { basis: finding.basis }),
    note: message,
    found: { target, kind, answer: outcome.kind === 'answer' ? outcome.answer : null },
  };
}

/** Returns the name of a file for a case. */
export function fixtureFile({ id }: Fixture): string {
  return `${id.replace(/[^A-Za-z0-9-]+/g, '-')}.json`;
}

const EXPECTATIONS: Readonly<Record<DisagreementKind, string>> = {
  'accepts-invalid': 'must be rejected',
  'rejects-valid': 'must be accepted',
  'different-tree': 'has this tree',
  'different-canonical': 'has this canonical text',
  crash: 'must not crash the reader',
  hang: 'must be answered in time',
  memory: 'must be answered in bounded memory',
  garbage: 'must be answered in the adapter protocol',
};

function expectation(reference: Answer): Pick<Fixture, 'ast' | 'canonical' | 'error'> {
  if (reference.ok) {
    const { ast, canonical } = reference;
    return { ...(ast === undefined ? {} : { ast }), ...(canonical === undefined ? {} : { canonical }) };
  }
  const { code, offset } = reference;
  return { error: { ...(code === undefined ? {} : { code }), ...(offset === undefined ? {} : { offset }) } };
}

/** FNV-1a over UTF-16 code units: short stable names; collisions are harmless. */
function hash(text: string): string {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return (state >>> 0).toString(16).padStart(8, '0');
}
