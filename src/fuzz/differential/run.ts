import type { Language } from './language.js';
import { compareOutcome, type Disagreement, type DisagreementKind, skeletonOf } from './oracle.js';
import { shrinkText } from './shrink.js';
import type { Answer, Json, Outcome, Target } from './target.js';

/** One cause of disagreements. */
export interface Finding {
  readonly target: string;
  /** What starts the target, for the shell; null where it is no program. */
  readonly command: string | null;
  readonly kind: DisagreementKind;
  /** The smallest text that shows it, and the one that it came from. */
  readonly input: string;
  readonly original: string;
  /** What it was to be read in; null where there are no dialects. */
  readonly dialect: string | null;
  /** What was said of the smallest. */
  readonly reference: Answer;
  /** What that rests on: a document and its section; null where nothing is known. */
  readonly basis: string | null;
  readonly disagreement: Disagreement;
  /** Whether it came again when the text was asked alone. */
  readonly reproducible: boolean;
  /** Texts of the run that disagree in this way, as far as was looked into. */
  count: number;
}

export interface DifferentialProgress {
  readonly inputs: number;
  readonly disagreements: number;
  readonly findings: number;
}

export interface DifferentialOptions {
  readonly language: Language;
  readonly targets: readonly Target[];
  readonly inputs: Iterable<string>;
  /** Texts that are read at the same time. @default 64 */
  readonly concurrency?: number | undefined;
  /** Stops the run; what was found until then is reported. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: DifferentialProgress) => void) | undefined;
  /** Told of each cause as soon as its smallest text is known. */
  readonly onFinding?: ((finding: Finding) => void) | undefined;
  /** Look no further once so many causes are known. @default 100 */
  readonly maxFindings?: number | undefined;
}

export interface DifferentialReport {
  readonly language: string;
  readonly dialect: string | null;
  /** Texts that were read, by what the reference says of them. */
  readonly valid: number;
  readonly invalid: number;
  readonly targets: readonly { readonly name: string; readonly agreed: number; readonly disagreed: number }[];
  readonly findings: readonly Finding[];
  /** Why it ended before the texts were used up: on a signal, or because there were findings enough; else null. */
  readonly stopped: 'signal' | 'findings' | null;
}

/** Disagreements of one key in a row that turn out to be known, until the key is only counted. */
const SATISFIED = 12;

/** Causes of one key that are told: beyond these, smallest texts that look different mostly come of the same fault. */
const CAUSES_OF_A_KEY = 4;

/** How often a hang is waited for at most while its text is cut down, about. */
const WAITS = 40;
/** Milliseconds that cutting down a text may take where it ends the program each time. */
const SLOW_TIME = 60_000;

/** Of an implementation that answers now like this and now like that. */
const ONCE = 'It happened among other texts, and not again when this one was asked alone.';

/** Where the message tells the cause, whatever the text looks like. */
const KEY_TELLS: ReadonlySet<DisagreementKind> = new Set(['crash', 'hang', 'memory', 'garbage']);

interface Bucket {
  known: number;
  readonly causes: Map<string, Finding>;
}

/** Milliseconds without a pause for timers and abort signals. */
const LONGEST_TURN_MS = 5;

/**
 * Reads each text with the reference and with all targets, and looks into what they disagree on: each disagreement is cut down to
 * the smallest text that shows it, and those whose smallest texts are alike are taken as one.
 *
 * @throws TargetError when a target cannot be asked at all
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

  const look = async (target: Target, original: string, found: Disagreement): Promise<void> => {
    if (findings.length >= maxFindings) return;
    const name = [target.name, found.kind, found.key].join('\n');
    const bucket = buckets.get(name) ?? { known: 0, causes: new Map() };
    buckets.set(name, bucket);
    const causeOf = (text: string): string => (KEY_TELLS.has(found.kind) ? '' : skeleton(text));
    const before = bucket.causes.get(causeOf(original));
    if (before !== undefined) before.count++;
    if (before !== undefined || bucket.known >= SATISFIED || bucket.causes.size >= CAUSES_OF_A_KEY) return;
    const same = async (text: string): Promise<boolean> => {
      const other = await ask(target, text);
      return other?.kind === found.kind && other.key === found.key;
    };
    const isReproducible = await same(original);
    const end = performance.now() + timeFor(found.outcome);
    const input =
      isOver() || !isReproducible
        ? original
        : await shrinkText(original, {
            reproduces: same,
            grammar: language.grammar,
            // Each that holds ends the program: more of them at once would only end it more often.
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
      : { ...found, message: `${found.message} ${ONCE}` };
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
  // One after the other: two that are cut down at once would find the same.
  let looking: Promise<void> = Promise.resolve();
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      // Targets that answer at once would block the event loop, and with it timers and abort signals.
      if (performance.now() - lastPause > LONGEST_TURN_MS) {
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
          looking = looking.then(() => look(targets[index]!, text, disagreement));
        }
      }
      await looking;
      options.onProgress?.({ inputs, disagreements, findings: findings.length });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await looking;
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

function timeFor(outcome: Outcome): number {
  if (outcome.kind === 'answer') return Number.POSITIVE_INFINITY;
  return outcome.kind === 'hang' ? WAITS * outcome.limitMs : SLOW_TIME;
}

/** A case in the form of `test/conformance/README.md`, and how it was found. */
export interface Fixture {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly dialect?: string;
  readonly ast?: Json;
  readonly canonical?: string;
  readonly error?: { readonly code?: string; readonly offset?: number };
  /** What the expectation rests on: a document and its section. */
  readonly basis?: string;
  readonly note: string;
  readonly found: { readonly target: string; readonly kind: DisagreementKind; readonly answer: Answer | null };
}

/** The case that a finding makes. The same text gives the same id on every machine. */
export function fixtureOf(finding: Finding, { name: language, dialect }: Language): Fixture {
  const { target, kind, input, reference, disagreement } = finding;
  const { outcome, message } = disagreement;
  return {
    id: `${language}/${kind}-${hash(`${language}\n${dialect}\n${kind}\n${input}`)}`,
    name: NAMES[kind],
    input,
    ...(dialect === null ? {} : { dialect }),
    ...expectation(reference),
    ...(finding.basis === null ? {} : { basis: finding.basis }),
    note: message,
    found: { target, kind, answer: outcome.kind === 'answer' ? outcome.answer : null },
  };
}

/** A file name for a case. */
export function fixtureFile({ id }: Fixture): string {
  return `${id.replace(/[^A-Za-z0-9-]+/g, '-')}.json`;
}

const NAMES: Readonly<Record<DisagreementKind, string>> = {
  'accepts-invalid': 'must be refused',
  'rejects-valid': 'must be accepted',
  'different-tree': 'has this tree',
  'different-canonical': 'has this canonical text',
  crash: 'must not end the reader',
  hang: 'must be judged in time',
  memory: 'must be judged in bounded memory',
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

/** FNV-1a over UTF-16 code units: short names that stay the same, no secrets. */
function hash(text: string): string {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return (state >>> 0).toString(16).padStart(8, '0');
}
