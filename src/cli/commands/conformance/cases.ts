/** The packaged conformance cases that test a parser. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ConformanceCase, Expected } from '../../../fuzz/differential/conformance.js';
import type { Json } from '../../../fuzz/differential/target.js';
import { packageRoot } from '../../io/package.js';
import type { Protocol } from '../../protocols.js';

export interface CaseSet {
  readonly cases: readonly ConformanceCase[];
  /** Descriptions of the cases that are not run, with the reason. */
  readonly skipped: readonly string[];
}

export const DRAFTS: Readonly<Record<Protocol['name'], string>> = {
  accp: 'draft-benzing-accp-00',
  aacp: 'draft-mackay-aacp-01',
};

/** The common members of the cases of both protocols; `test/conformance` has the schemas. */
interface Fixture {
  readonly id: string;
  readonly section?: string;
  readonly canonical?: string;
  readonly error?: { readonly code: string; readonly offset: number; readonly approximate?: true };
}

interface FrameFixture extends Fixture {
  readonly input: string;
  readonly dialect: string;
  readonly ast?: Json;
  readonly sorted?: string;
}

interface PacketFixture extends Fixture {
  readonly packet: string;
}

interface ValidatorFixture extends PacketFixture {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const ACCP_FILES = ['frames', 'values', 'canonical', 'invalid', 'lenient', 'limits'] as const;

/** Diagnostics of packets that a strict parser rejects. */
const SYNTAX = new Set(
  (
    'empty-packet missing-task missing-dom bad-task bad-dom bad-key empty-field malformed-field empty-key ' +
    'control-character whitespace'
  ).split(' '),
);
/** Diagnostics of packets that a strict parser may accept or reject. */
const UNDECIDED = new Set(['unknown-task', 'unknown-dom', 'unknown-key', 'key-case']);

/** Loads the cases of a protocol. */
export function conformanceCases({ name, dialects }: Protocol): Promise<CaseSet> {
  return name === 'accp' ? accpCases(dialects) : aacpCases(dialects);
}

async function accpCases(dialects: readonly string[]): Promise<CaseSet> {
  const files = await Promise.all(
    ACCP_FILES.map(async (name) => {
      const file = `accp/${name}.json`;
      const fixtures = await fixturesOf<FrameFixture>(file);
      return fixtures.map((fixture) => ({ file, fixture }));
    }),
  );
  const all = files.flat();
  const sorted = all.filter(({ fixture }) => fixture.sorted !== undefined).length;
  return {
    cases: all.map(({ file, fixture }) => ({
      id: fixture.id,
      file,
      section: fixture.section,
      input: fixture.input,
      dialect: fixture.dialect,
      expected: expectedOf(fixture, fixture.ast),
      reparseDialects: dialects,
    })),
    skipped: [`${sorted} texts with sorted parameters: the adapter protocol has no request for them`],
  };
}

async function aacpCases(dialects: readonly string[]): Promise<CaseSet> {
  const [packets, fixtures] = await Promise.all([
    fixturesOf<PacketFixture>('aacp/packets.json'),
    fixturesOf<ValidatorFixture>('aacp/validator.json'),
  ]);
  const decided = fixtures.flatMap((fixture) => validatorCase(fixture) ?? []);
  return {
    cases: [
      ...packets.map((fixture) => ({
        id: `packets/${fixture.id}`,
        file: 'aacp/packets.json',
        section: fixture.section,
        input: fixture.packet,
        dialect: 'strict',
        expected: expectedOf(fixture),
        reparseDialects: dialects,
      })),
      ...decided,
    ],
    skipped: [
      'the diagnostics in aacp/validator.json: its cases only test whether a strict parser accepts the packet',
      `${fixtures.length - decided.length} cases of aacp/validator.json: a strict parser may accept or reject them`,
      'aacp/explain.json: it tests explanations',
      'the other files of aacp/: they test encoders and rules',
    ],
  };
}

function expectedOf({ canonical, error }: Fixture, ast?: Json): Expected {
  if (error === undefined) return { ok: true, ast, canonical };
  return { ok: false, code: error.code, offset: error.approximate ? undefined : error.offset };
}

/** Derives a parser case from a validator case; `null` if a strict parser may accept or reject the packet. */
function validatorCase({ id, packet, errors, warnings }: ValidatorFixture): ConformanceCase | null {
  const codes = [...errors, ...warnings];
  const isRejected = codes.some((code) => SYNTAX.has(code));
  if (!isRejected && codes.some((code) => UNDECIDED.has(code))) return null;
  const expected = { ok: !isRejected };
  return { id: `validator/${id}`, file: 'aacp/validator.json', input: packet, dialect: 'strict', expected };
}

async function fixturesOf<Case>(file: string): Promise<readonly Case[]> {
  const text = await readFile(path.join(packageRoot(), 'test/conformance', file), 'utf8');
  return (JSON.parse(text) as { readonly cases: readonly Case[] }).cases;
}
