/** One message in all notations. */
export interface Sample {
  readonly text: string;
  /** The equivalent message as compact JSON. */
  readonly json: string;
}

export interface Category {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** Reads a text. Throws if it is invalid; with `builds: 'verdict'`, returns `false`. */
export type Read = (text: string) => unknown;

export interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly protocol: 'accp' | 'aacp';
  /** The kind of result: a syntax tree, plain values, tokens, validity only, or header and metadata. */
  readonly builds: 'ast' | 'plain' | 'tokens' | 'verdict' | 'envelope';
  /** The text that this candidate reads. @default the frame or packet */
  readonly input?: (sample: Sample) => string | Promise<string>;
  /** Loads the reader. @throws Unavailable if a package is not installed */
  readonly prepare: () => Promise<Read>;
}

export class Unavailable extends Error {}

export interface Ready {
  readonly candidate: Candidate;
  readonly read: Read;
}

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

/** Imports an optional package. @throws Unavailable if it is not installed */
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
