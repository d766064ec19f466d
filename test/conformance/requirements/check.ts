/** Whether a list of requirements is whole, and whether each of its entries is shown. */
import { citation, type Requirement, type RequirementList } from './list.js';
import { readTestFile, type TestFile } from './titles.js';

/** What is wrong with a list, one sentence each. */
export type Faults = readonly string[];

/** Entries that nothing shows, and exceptions that are none any more. */
export function uncited({ requirements }: RequirementList): Faults {
  return requirements.flatMap(({ id, tests, exception, later }) => {
    if (exception !== undefined && later !== undefined) return [`${id}: it is put off, and an exception`];
    const isExcused = exception !== undefined || later !== undefined;
    if (tests.length === 0 && !isExcused) return [`${id}: no test shows it, and there is no exception`];
    if (tests.length > 0 && isExcused) return [`${id}: the exception is stale, since tests show it`];
    return [];
  });
}

/**
 * Citations of tests that are not there.
 *
 * @param read the source of a file; `null` where there is none
 */
export function missingTests({ requirements }: RequirementList, read: (file: string) => string | null): Faults {
  const files = new Map<string, TestFile | null>();
  const faults: string[] = [];
  for (const { id, tests } of requirements) {
    for (const test of tests) {
      const { file, title } = citation(test);
      if (!files.has(file)) {
        const source = read(file);
        files.set(file, source === null ? null : readTestFile(source));
      }
      const known = files.get(file);
      if (!known) faults.push(`${id}: there is no file ${file}`);
      else if (!hasTest(known, title)) {
        faults.push(`${id}: ${file} has no test "${title}"`);
      }
    }
  }
  return faults;
}

/** Whether a title is there as it stands, or with its placeholders filled in by words of the same file. */
function hasTest({ tests, words }: TestFile, title: string): boolean {
  return tests.some(({ text, pattern }) => {
    if (title === text) return true;
    const match = pattern.exec(title);
    return match?.slice(1).every((word) => words.has(word)) ?? false;
  });
}

/** Key words, rows, items and words of the draft that no entry stands for, and entries that stand for none. */
export function miscounted({ requirements, keywords, tables, items, values, ids }: RequirementList): Faults {
  const counted = tally(requirements, ({ section, keyword }) => keyword && `${section} ${keyword}`);
  const wanted = Object.entries(keywords).flatMap(([section, counts]) =>
    Object.entries(counts).map(([keyword, count]) => [`${section} ${keyword}`, count] as const),
  );
  const rows = tally(requirements, ({ table }) => table);
  const words = new Map(
    requirements.flatMap(({ section, values }) => (values ? [[`words of ${section}`, values.length] as const] : [])),
  );
  const numbered = new Set(
    requirements.flatMap(({ section, item }) => (item === undefined ? [] : [`${section} ${item}`])),
  );
  const listed = Object.entries(items).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section} ${at + 1}`),
  );
  return [
    ...differences(counted, new Map(wanted)),
    ...differences(rows, new Map(Object.entries(tables))),
    ...differences(words, new Map(Object.entries(values).map(([section, count]) => [`words of ${section}`, count]))),
    ...listed.filter((item) => !numbered.has(item)).map((item) => `item ${item}: no entry`),
    ...(ids === undefined ? [] : differing(ids, requirements)),
    ...[...numbered].filter((item) => !listed.includes(item)).map((item) => `item ${item}: the draft has none`),
  ];
}

/** Ids without an entry, and entries whose ids are not listed. */
function differing(ids: readonly string[], requirements: readonly Requirement[]): string[] {
  const known = new Set(requirements.map(({ id }) => id));
  return [
    ...ids.filter((id) => !known.has(id)).map((id) => `${id}: no entry`),
    ...[...known].filter((id) => !ids.includes(id)).map((id) => `${id}: it is not among the ids`),
  ];
}

function tally(
  requirements: readonly Requirement[],
  name: (one: Requirement) => string | undefined,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const requirement of requirements) {
    const key = name(requirement);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function differences(counted: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): string[] {
  return [...new Set([...counted.keys(), ...wanted.keys()])]
    .filter((key) => counted.get(key) !== wanted.get(key))
    .map((key) => `${key}: the draft has ${wanted.get(key) ?? 0}, and entries stand for ${counted.get(key) ?? 0}`);
}

/** Entries whose fields contradict each other. */
export function inconsistent({ requirements, levels, ids: listed }: RequirementList): Faults {
  const ids = new Set<string>();
  return requirements.flatMap(({ id, section, level, conformance, keyword, kind, table, item, tests }) => {
    const faults: string[] = [];
    if (ids.has(id)) faults.push(`${id}: the id is there twice`);
    ids.add(id);
    if (listed === undefined && !id.startsWith(`${section}-`))
      faults.push(`${id}: the id does not begin with the section ${section}`);
    if (keyword !== undefined && keyword !== level)
      faults.push(`${id}: its key word is ${keyword}, its level ${level}`);
    if (levels.length === 0 ? conformance !== undefined : !levels.some((one) => one.level === conformance))
      faults.push(`${id}: its conformance level is none of the draft's`);
    if ((level === 'reading') !== (kind === 'reading'))
      faults.push(`${id}: readings, and nothing else, have that level`);
    if ((table !== undefined) !== (kind === 'table-row')) faults.push(`${id}: rows name their table, and others none`);
    if ((item !== undefined) !== (kind === 'step')) faults.push(`${id}: steps have a number, and others none`);
    if (new Set(tests).size < tests.length) faults.push(`${id}: a test is cited twice`);
    return faults;
  });
}
