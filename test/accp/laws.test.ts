/** Laws of every frame, and of every text that parses as one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AccpNode,
  canonicalizeFrame,
  type Dialect,
  type Frame,
  type Param,
  parseFrame,
  printFrame,
  tryParseFrame,
  walkFrame,
} from '../../src/accp/index.js';
import { frameMutants, frames, frameTexts } from '../helpers/accp-arbitraries.js';
import { runs } from '../helpers/runs.js';

const DIALECTS: readonly Dialect[] = ['strict', 'lenient'];
const RUNS = runs(400);

/** The list in some other order. */
function shuffled<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length });
}

/** Every text that the dialect accepts: of its own making, or bent and still accepted. */
function accepted(dialect: Dialect): fc.Arbitrary<string> {
  const bent = frameMutants(dialect).filter((text) => tryParseFrame(text, { dialect }).ok);
  return fc.oneof({ weight: 5, arbitrary: frameTexts(dialect) }, { weight: 1, arbitrary: bent });
}

describe('a tree that can be printed', () => {
  test.each(DIALECTS)('reads back as its canonical form in the %s dialect', (dialect) => {
    const law = fc.property(frames, (frame) => {
      expect(parseFrame(printFrame(frame), { dialect })).toStrictEqual(canonicalizeFrame(frame));
    });
    fc.assert(law, RUNS);
  });

  test('is canonical after one canonicalization', () => {
    const law = fc.property(frames, (frame) => {
      const canonical = canonicalizeFrame(frame);
      expect(canonicalizeFrame(canonical)).toStrictEqual(canonical);
    });
    fc.assert(law, RUNS);
  });

  test('prints the same before and after canonicalization', () => {
    const law = fc.property(frames, (frame) => {
      expect(printFrame(canonicalizeFrame(frame))).toBe(printFrame(frame));
    });
    fc.assert(law, RUNS);
  });

  test('prints the same for any order of metadata', () => {
    const pairs = frames.chain((frame) =>
      frame.metadata === null
        ? fc.constant([frame, frame] as const)
        : shuffled(frame.metadata).map((metadata) => [frame, { ...frame, metadata }] as const),
    );
    const law = fc.property(pairs, ([frame, other]) => {
      expect(printFrame(other)).toBe(printFrame(frame));
    });
    fc.assert(law, RUNS);
  });

  test('prints the same for any order of parameters if they are sorted', () => {
    const pairs = frames.chain((frame) =>
      shuffled(frame.payload).map((payload) => [frame, { ...frame, payload }] as const),
    );
    const law = fc.property(pairs, ([frame, other]) => {
      const sorted = printFrame(frame, { sortParams: true });
      expect(printFrame(other, { sortParams: true })).toBe(sorted);
      expect(printFrame(parseFrame(sorted))).toBe(sorted);
    });
    fc.assert(law, RUNS);
  });

  test('is not changed by printing and canonicalization', () => {
    const law = fc.property(frames, (frame) => {
      const before = fc.stringify(frame);
      printFrame(frame, { sortParams: true });
      canonicalizeFrame(frame);
      expect(fc.stringify(frame)).toBe(before);
    });
    fc.assert(law, RUNS);
  });
});

describe.each(DIALECTS)('a text that the %s dialect accepts', (dialect) => {
  test('prints as canonical text, which prints as itself', () => {
    const law = fc.property(accepted(dialect), (text) => {
      const frame = parseFrame(text, { dialect });
      const printed = printFrame(frame);
      expect(printFrame(canonicalizeFrame(frame))).toBe(printed);
      expect(printFrame(parseFrame(printed))).toBe(printed);
    });
    fc.assert(law, RUNS);
  });

  test('has the same tree with spans as without', () => {
    const law = fc.property(accepted(dialect), (text) => {
      const frame = parseFrame(text, { dialect, spans: true });
      expect(withoutSpans(frame)).toStrictEqual(parseFrame(text, { dialect }));
    });
    fc.assert(law, RUNS);
  });

  test('has spans that cover the text of their nodes', () => {
    const law = fc.property(accepted(dialect), (text) => {
      const frame = parseFrame(text, { dialect, spans: true });
      expect(slice(text, frame)).toBe(text);
      walkFrame(frame, (node) => {
        if (node.kind !== 'frame') expect(readAlone(slice(text, node), dialect)).toStrictEqual(withoutSpans(node));
        for (const param of paramsOf(node)) {
          expect(slice(text, param)).toBe(`${param.key}:${slice(text, param.value)}`);
        }
      });
    });
    fc.assert(law, runs(150));
  });
});

test('the lenient dialect reads every strict text as the strict one does', () => {
  const law = fc.property(accepted('strict'), (text) => {
    expect(parseFrame(text, { dialect: 'lenient' })).toStrictEqual(parseFrame(text));
  });
  fc.assert(law, RUNS);
});

function withoutSpans(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutSpans);
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node).filter(([name]) => name !== 'span');
  return Object.fromEntries(members.map(([name, member]) => [name, withoutSpans(member)]));
}

function slice(text: string, { span }: Pick<Frame, 'span'>): string {
  return text.slice(span!.start, span!.end);
}

function paramsOf(node: AccpNode): readonly Param[] {
  if (node.kind === 'frame') return [...node.payload, ...(node.metadata ?? [])];
  return node.kind === 'map' ? node.entries : [];
}

/** Returns the value of a text in an array, where every value is allowed, including keyed items. */
function readAlone(text: string, dialect: Dialect): unknown {
  const { payload } = parseFrame(`@a>req:x{v:[${text}]}`, { dialect, maxDepth: 6 });
  const list = payload[0]!.value;
  return list.kind === 'array' && list.items.length === 1 ? list.items[0] : list;
}
