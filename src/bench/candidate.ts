/** What is measured, whoever made it: one shape for pegwire's parsers and all others. */
/** One message in every spelling that a candidate may read. */
export interface Sample {
  /** The frame or packet. */
  readonly text: string;
  /** The equivalent message as compact JSON. */
  readonly json: string;
}

/** Messages of one sort, by which results are broken down. */
export interface Category {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** Reads one text. Refuses it by throwing; where `builds` is `verdict`, by giving `false`. */
export type Read = (text: string) => unknown;

export interface Candidate {
  /** Unique, for file names and JSON. */
  readonly id: string;
  /** For tables. */
  readonly name: string;
  readonly protocol: 'accp' | 'aacp';
  /**
   * What comes out: the syntax tree, with all refusals of the language; plain values; the tokens; only whether the text
   * is one; or the header and metadata.
   */
  readonly builds: 'ast' | 'plain' | 'tokens' | 'verdict' | 'envelope';
  /** The text of a sample as this candidate reads it. @default the frame or packet */
  readonly input?: (sample: Sample) => string | Promise<string>;
  /**
   * Loads what is needed and gives the reader.
   *
   * @throws Unavailable where something is not installed
   */
  readonly prepare: () => Promise<Read>;
}

/** A candidate cannot be measured here; the message says why. */
export class Unavailable extends Error {}

/** A candidate that is ready, with its texts. */
export interface Ready {
  readonly candidate: Candidate;
  readonly read: Read;
}

/** Prepares those that can be, and says why the others cannot. */
export async function prepareAll(
  candidates: readonly Candidate[],
): Promise<{ readonly ready: readonly Ready[]; readonly missing: readonly { name: string; why: string }[] }> {
  const ready: Ready[] = [];
  const missing: { name: string; why: string }[] = [];
  for (const candidate of candidates) {
    try {
      ready.push({ candidate, read: await candidate.prepare() });
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) throw thrown;
      missing.push({ name: candidate.name, why: thrown.message });
    }
  }
  return { ready, missing };
}

/**
 * A package that may not be installed.
 *
 * @throws Unavailable where it is not
 */
export async function optionalPackage<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') {
      throw new Unavailable(`the package ${name} is not installed`);
    }
    throw thrown;
  }
}
