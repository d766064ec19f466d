import { describe, expect, test } from 'vitest';
import { dateChangelog } from '../../scripts/release.js';

const changelog = `# Changelog

## 0.2.0 (unreleased)

* A change.

## 0.1.0 (2026-11-01)

* The first version.
`;

describe('the changelog of a release', () => {
  test('has the date of the release', () => {
    expect(dateChangelog(changelog, '0.2.0', '2026-12-24')).toBe(
      changelog.replace('0.2.0 (unreleased)', '0.2.0 (2026-12-24)'),
    );
  });

  test.each([
    ['no unreleased section', changelog.replace(' (unreleased)', ' (2026-12-01)'), /must begin with a section/],
    [
      'an unreleased section below a release',
      changelog.replace('0.2.0 (unreleased)', '0.3.0 (x)').replace('0.1.0 (2026-11-01)', '0.2.0 (unreleased)'),
      /must begin/,
    ],
    [
      'a section for another version',
      changelog.replace('0.2.0', '0.3.0'),
      /unreleased section for 0\.3\.0, not for 0\.2\.0: rename it/,
    ],
    ['an empty section', changelog.replace('* A change.\n', ''), /is empty/],
  ])('is refused with %s', (_what, text, message) => {
    expect(() => dateChangelog(text, '0.2.0', '2026-12-24')).toThrow(message);
  });
});
