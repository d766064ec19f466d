import { describe, expect, it } from 'vitest';
import { folderCycles } from '../../scripts/folder-cycles.js';

describe('folderCycles', () => {
  it('accepts folders that can be ordered', () => {
    expect(
      folderCycles([
        ['src/a/index.ts', 'src/a/inner/one.ts'],
        ['src/a/inner/one.ts', 'src/a/types.ts'],
        ['src/a/inner/one.ts', 'src/b/two.ts'],
        ['src/b/two.ts', 'src/b/three.ts'],
      ]),
    ).toEqual([]);
  });

  it('reports two folders that import each other through different files', () => {
    expect(
      folderCycles([
        ['src/a/one.ts', 'src/b/two.ts'],
        ['src/b/three.ts', 'src/a/four.ts'],
      ]),
    ).toEqual(['src: a, b import each other', '  src/a/one.ts -> src/b/two.ts', '  src/b/three.ts -> src/a/four.ts']);
  });

  it('reports a cycle of three nested folders', () => {
    expect(
      folderCycles([
        ['src/x/a/one.ts', 'src/x/b/two.ts'],
        ['src/x/b/deep/three.ts', 'src/x/c/four.ts'],
        ['src/x/c/five.ts', 'src/x/a/one.ts'],
        ['src/x/c/five.ts', 'src/y/six.ts'],
      ])[0],
    ).toBe('src/x: a, b, c import each other');
  });

  it('reports a file and a folder that import each other', () => {
    expect(
      folderCycles([
        ['src/x/types.ts', 'src/x/a/one.ts'],
        ['src/x/a/two.ts', 'src/x/types.ts'],
      ])[0],
    ).toBe('src/x: a, types.ts import each other');
  });
});
