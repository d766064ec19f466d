/** The map in CONTRIBUTING.md, compared with the folders of src/ and their imports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const map = readFileSync('CONTRIBUTING.md', 'utf8').split('## The map')[1]!.split('\n## ')[0]!;
const rows = map.split('\n').filter((line) => line.startsWith('| `') && line.split('|').length === 5);

interface Room {
  readonly name: string;
  /** The parts of the room in the order of the map, which may import those before them. */
  readonly parts: readonly string[];
  readonly imports: readonly string[];
}

const rooms: readonly Room[] = rows.map((row) => {
  const [, name, holds, imports] = row.split('|').map((cell) => cell.trim());
  const stack = /`[\w-]+`(?: < `[\w-]+`)+/.exec(holds!)?.[0] ?? '';
  return { name: named(name!)[0]!, parts: named(stack), imports: named(imports!) };
});

function named(cell: string): readonly string[] {
  return [...cell.matchAll(/`([\w-]+)`/g)].map((match) => match[1]!);
}

/** Returns the imports of the files in a folder. */
function importsOf(folder: string): readonly (readonly [from: string, to: string])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.d)\.ts$/.test(file))
    .flatMap((file) => {
      const from = path.posix.join(folder, file);
      const { importedFiles } = ts.preProcessFile(readFileSync(from, 'utf8'));
      return importedFiles
        .filter(({ fileName }) => fileName.startsWith('.'))
        .map(({ fileName }) => [from, path.posix.join(path.posix.dirname(from), fileName)] as const);
    });
}

describe('the map of the rooms', () => {
  it('lists every folder of src, and no other', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(rooms.map(({ name }) => name).toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  });

  it.each(rooms)('lists the imports of $name', ({ name, imports }) => {
    if (imports[0] === undefined && rows.some((row) => row.startsWith(`| \`${name}\``) && row.endsWith('| all |')))
      return;
    const outside = importsOf(`src/${name}`)
      .map(([, to]) => /^src\/([\w-]+)\//.exec(to)?.[1])
      .filter((room) => room !== undefined && room !== name && !imports.includes(room));
    expect(outside).toEqual([]);
  });

  it.each(rooms.filter(({ parts }) => parts.length > 0))('orders the parts of $name', ({ name, parts }) => {
    const partOf = (file: string) => new RegExp(`^src/${name}/([\\w-]+)/`).exec(file)?.[1] ?? '';
    const upwards = importsOf(`src/${name}`).filter(([from, to]) => {
      const [importer, imported] = [parts.indexOf(partOf(from)), parts.indexOf(partOf(to))];
      return importer >= 0 && imported > importer;
    });
    expect(upwards).toEqual([]);
    const folders = readdirSync(`src/${name}`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map((entry) => entry.name).filter((part) => !parts.includes(part))).toEqual(
      { accp: ['language'], bench: [] }[name] ?? [],
    );
  });

  it('refers to files and folders that exist', () => {
    const paths = [...map.matchAll(/`((?:src|test|generated)\/[\w/.-]+)`/g)].map((match) => match[1]!);
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((name) => !existsSync(name))).toEqual([]);
  });
});
