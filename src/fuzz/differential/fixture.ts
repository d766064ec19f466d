/** Findings as conformance cases: plain JSON that any implementation can be held against. */
import type { Language } from '../grammar/language.js';
import type { DisagreementKind } from './judge.js';
import type { Finding } from './run.js';
import type { Answer, Json } from './target.js';

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
  'refuses-valid': 'must be accepted',
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
