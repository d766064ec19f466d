/** The cases of `test/conformance/compact`, and their results with pegwire. */
import { staticEntries } from '../../../src/accp/compact/static.js';
import { type Shape, shapeKey } from '../../../src/accp/compact/tables.js';
import { AccpError } from '../../../src/accp/errors.js';
import { parseFrame } from '../../../src/accp/parse.js';
import { printFrame } from '../../../src/accp/print.js';
import { createRegistry, matchesHash, type Registry, type RegistryJson } from '../../../src/accp/registry/registry.js';
import { Compaction } from '../../../src/accp/session/compaction.js';
import { readEnvelope } from '../../../src/accp/session/envelope.js';
import { Collection, type Journal } from '../../../src/accp/store/journal.js';
import { ESTIMATING_COUNTER } from '../../../src/tokens/counter.js';

/** The learned entries of one sender by number, as text: a shape is `operation|schema|key|key`. */
export interface TablesOf {
  readonly agents: readonly string[];
  /** The count of the next frame, in the mode `session`. */
  readonly count?: number;
  readonly shapes: { readonly [number: string]: string };
  readonly strings: { readonly [number: string]: string };
}

export interface Step {
  readonly frame: string;
  /** Header and body of the plain frame. */
  readonly plain?: string;
  readonly error?: { readonly code: string; readonly want?: string };
  /** The tables after the frame by the agent that began them; `null` if they are broken. */
  readonly tables?: { readonly [agent: string]: TablesOf | null };
}

export interface Course {
  readonly id: string;
  readonly name: string;
  readonly sequence: 'sender' | 'session';
  /** The registry of all sides. */
  readonly registry?: RegistryJson;
  /** Its hash. */
  readonly hash?: string;
  readonly steps: readonly Step[];
}

/** A reader of the frames of one course. */
export class Reader {
  readonly #collections = new Map<string, Collection<unknown>>();
  readonly #compaction: Compaction;
  readonly #registry: Registry;
  readonly #isShared: boolean;

  constructor({ sequence, registry }: Pick<Course, 'sequence' | 'registry'>) {
    this.#registry = createRegistry(registry);
    this.#isShared = sequence === 'session';
    const journal = { collection: (name: string) => this.#collection(name) } as unknown as Journal;
    this.#compaction = new Compaction({ journal, mode: sequence, counter: ESTIMATING_COUNTER, peers: new Map() });
  }

  read(frame: string): Pick<Step, 'plain' | 'error'> {
    try {
      return { plain: this.#plain(frame) };
    } catch (thrown) {
      if (!(thrown instanceof AccpError)) throw thrown;
      const { code, details } = thrown;
      const want = details['want'];
      return { error: typeof want === 'string' ? { code, want } : { code } };
    }
  }

  #plain(text: string): string {
    const written = parseFrame(text);
    const registryOf = (hash: string): Registry | null => (matchesHash(this.#registry, hash) ? this.#registry : null);
    const { table } = readEnvelope(written).envelope;
    const [agent, isAmbiguous] = this.#compaction.agentOf(written, table, registryOf);
    const frame = { ...written, agent };
    if (isAmbiguous || !this.#compaction.isContinuous(frame, table, true)) {
      const details = isAmbiguous ? { want: 'plain' } : {};
      throw new AccpError({ code: 'E3003', message: 'Refused.', details });
    }
    const [plain] = this.#compaction.expand(frame, table, registryOf);
    return printFrame({ ...plain, metadata: null });
  }

  tables(): NonNullable<Step['tables']> {
    this.#compaction.owners.settle();
    const tables: Record<string, TablesOf | null> = {};
    for (const [key, value] of this.#collection('compact').entries()) {
      const { agents, hash, count, isBroken } = value as {
        agents: readonly string[];
        hash: string;
        count: number;
        isBroken: boolean;
      };
      const agent = key.slice('in:'.length);
      const { shapes, strings } = staticEntries(hash === this.#registry.hash ? this.#registry : createRegistry());
      tables[agent] = isBroken
        ? null
        : {
            agents,
            ...(this.#isShared ? { count } : {}),
            shapes: this.#learned('compact-shapes', key, shapes.entries.length, 128, (entry) =>
              shapeKey(entry as Shape),
            ),
            strings: this.#learned('compact-strings', key, strings.entries.length, 512, String),
          };
    }
    return tables;
  }

  #learned(name: string, owner: string, first: number, max: number, textOf: (entry: unknown) => string) {
    const learned: Record<string, string> = {};
    for (const [key, entry] of this.#collection(name).entries()) {
      if (!key.startsWith(`${owner}|`)) continue;
      learned[first + (Number(key.slice(owner.length + 1)) % max)] = textOf(entry);
    }
    return learned;
  }

  #collection(name: string): Collection<unknown> {
    const collection = this.#collections.get(name) ?? new Collection(null);
    this.#collections.set(name, collection);
    return collection;
  }
}
