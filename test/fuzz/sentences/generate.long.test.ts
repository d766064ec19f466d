/** Many sentences: `npm run test:long`. */
import { expect, test } from 'vitest';
import { aacpLanguage } from '../../../src/aacp/language/language.js';
import { accpLanguage } from '../../../src/accp/language/language.js';
import { coverageReport, coverageTable } from '../../../src/fuzz/coverage/report.js';
import { createTracker } from '../../../src/fuzz/coverage/tracker.js';
import { generateSentences } from '../../../src/fuzz/sentences/generate.js';
import { EXAMPLES, exampleOf } from './examples.js';

const SENTENCES = 20_000;

test.each([
  accpLanguage({ dialect: 'strict' }),
  accpLanguage({ dialect: 'lenient' }),
  aacpLanguage({ dialect: 'strict' }),
  aacpLanguage({ dialect: 'tolerant' }),
])(
  `${SENTENCES} sentences are read by the generated parser, and reach all of the grammar: $name, $dialect`,
  (language) => {
    const tracker = createTracker(language.grammar);
    for (const text of generateSentences(language.grammar, { seed: 1, count: SENTENCES, tracker })) {
      if (!language.read(text).ok) expect.fail(`refused: ${JSON.stringify(text)}`);
    }
    const report = coverageReport(tracker);
    console.log(coverageTable(report));
    expect(report.missing).toEqual([]);
  },
);

test.each(EXAMPLES)(
  `${SENTENCES} sentences are accepted by the parser that PEG.js generates from its own example: %s`,
  (name) => {
    const { grammar, parse } = exampleOf(name);
    const tracker = createTracker(grammar);
    for (const text of generateSentences(grammar, { seed: 1, count: SENTENCES, tracker })) {
      expect(() => parse(text), JSON.stringify(text)).not.toThrow();
    }
    console.log(coverageTable(coverageReport(tracker)).split('\n')[0]);
  },
);
