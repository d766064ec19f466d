/** Functions that take messages or frames, called with anything else, as programs without types do. */
import { describe, expect, test } from 'vitest';
import { compactFrame, expandFrame, learnRegistry } from '../../../src/accp/compact/index.js';
import { renderForContext } from '../../../src/accp/render/index.js';

const NEITHER = [null, 5, '@a>req:x{k:1}', 1n, [], () => undefined];
const INCOMPLETE: readonly unknown[] = [
  ...NEITHER,
  {},
  { agent: 1, intent: 'req', operation: 'x', payload: {} },
  { agent: 'a', intent: 'req', payload: {} },
  { agent: 'a', intent: 'req', operation: 'x', payload: 'k' },
  { kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload: 'k' },
];

function refused(path: string): unknown {
  return expect.objectContaining({ code: 'E1004', path });
}

describe('anything but a message or a frame is E1004', () => {
  test.each(INCOMPLETE.map((value) => [value]))('%s, in a list', (value) => {
    expect(() => renderForContext([value as never])).toThrow(refused('messages[0]'));
    expect(() => learnRegistry([value as never])).toThrow(refused('sample[0]'));
  });

  test.each([...NEITHER, undefined, {}])('%s, as a frame', (value) => {
    expect(() => compactFrame(value as never)).toThrow(refused('frame'));
    expect(() => expandFrame(value as never)).toThrow(refused('frame'));
  });

  test('a sample must be iterable', () => {
    for (const value of [undefined, null, 5, {}]) expect(() => learnRegistry(value as never)).toThrow(TypeError);
  });
});
