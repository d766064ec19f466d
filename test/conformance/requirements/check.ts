/** Checks of the lists of requirements: completeness, consistency, and tests for each entry. */
import { citation, type Requirement, type RequirementList } from './list.js';
import { readTestFile, type TestFile } from './titles.js';

/** The problems of a list, one sentence each. */
export type Problems = readonly string[];

/** Finds entries without tests, and exceptions that are out of date. */
export function uncited({ requirements }: RequirementList): Problems {
  return requirements.flatMap(({ id, tests, exception, later }) => {
    if (exception !== undefined && later !== undefined) return [`${id}: it has both "later" and "exception"`];
    const isExcused = exception !== undefined || later !== undefined;
    if (tests.length === 0 && !isExcused) return [`${id}: it has neither a test nor an exception`];
    if (tests.length > 0 && isExcused) return [`${id}: the exception is out of date, since it has tests`];
    return [];
  });
}

/**
 * Finds citations of tests that do not exist.
 *
 * @param read returns the source of a file, or `null` if it does not exist
 */
export function missingTests({ requirements }: RequirementList, read: (file: string) => string | null): Problems {
  const files = new Map<string, TestFile | null>();
  const problems: string[] = [];
  for (const { id, tests } of requirements) {
    for (const test of tests) {
      const { file, title } = citation(test);
      if (!files.has(file)) {
        const source = read(file);
        files.set(file, source === null ? null : readTestFile(source));
      }
      const known = files.get(file);
      if (!known) problems.push(`${id}: ${file} does not exist`);
      else if (!hasTest(known, title)) {
        problems.push(`${id}: ${file} has no test "${title}"`);
      }
    }
  }
  return problems;
}

/** Returns whether a file has a test with the title, literally or with placeholders replaced by words of the same file. */
function hasTest({ tests, words }: TestFile, title: string): boolean {
  return tests.some(({ text, pattern }) => {
    if (title === text) return true;
    const match = pattern.exec(title);
    return match?.slice(1).every((word) => words.has(word)) ?? false;
  });
}

/** Finds key words, rows, items and words of the specification without an entry, and entries without one of these. */
export function miscounted({ requirements, keywords, tables, items, values, ids }: RequirementList): Problems {
  const counted = tally(requirements, ({ section, keyword }) => keyword && `${section} ${keyword}`);
  const expected = Object.entries(keywords).flatMap(([section, counts]) =>
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
    ...differences(counted, new Map(expected)),
    ...differences(rows, new Map(Object.entries(tables))),
    ...differences(words, new Map(Object.entries(values).map(([section, count]) => [`words of ${section}`, count]))),
    ...listed.filter((item) => !numbered.has(item)).map((item) => `item ${item}: no entry`),
    ...(ids === undefined ? [] : differing(ids, requirements)),
    ...[...numbered]
      .filter((item) => !listed.includes(item))
      .map((item) => `item ${item}: the specification does not have it`),
  ];
}

/** Finds ids without an entry, and entries whose ids are not listed. */
function differing(ids: readonly string[], requirements: readonly Requirement[]): string[] {
  const known = new Set(requirements.map(({ id }) => id));
  return [
    ...ids.filter((id) => !known.has(id)).map((id) => `${id}: no entry`),
    ...[...known].filter((id) => !ids.includes(id)).map((id) => `${id}: it is not in "ids"`),
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

function differences(counted: ReadonlyMap<string, number>, expected: ReadonlyMap<string, number>): string[] {
  return [...new Set([...counted.keys(), ...expected.keys()])]
    .filter((key) => counted.get(key) !== expected.get(key))
    .map((key) => `${key}: the specification has ${expected.get(key) ?? 0}, the list ${counted.get(key) ?? 0}`);
}

/** Finds entries whose members contradict each other. */
export function inconsistent({ requirements, levels, ids: listed }: RequirementList): Problems {
  const ids = new Set<string>();
  return requirements.flatMap(({ id, section, level, conformance, keyword, kind, table, item, tests }) => {
    const problems: string[] = [];
    if (ids.has(id)) problems.push(`${id}: the id is not unique`);
    ids.add(id);
    if (listed === undefined && !id.startsWith(`${section}-`))
      problems.push(`${id}: the id must begin with the section ${section}`);
    if (keyword !== undefined && keyword !== level)
      problems.push(`${id}: the key word ${keyword} contradicts the level ${level}`);
    if (levels.length === 0 ? conformance !== undefined : !levels.some((one) => one.level === conformance))
      problems.push(`${id}: the specification does not have its conformance level`);
    if ((level === 'reading') !== (kind === 'reading'))
      problems.push(`${id}: the level "reading" requires the kind "reading", and the reverse`);
    if ((table !== undefined) !== (kind === 'table-row'))
      problems.push(`${id}: "table" requires the kind "table-row", and the reverse`);
    if ((item !== undefined) !== (kind === 'step'))
      problems.push(`${id}: "item" requires the kind "step", and the reverse`);
    if (new Set(tests).size < tests.length) problems.push(`${id}: a test is cited twice`);
    return problems;
  });
}
