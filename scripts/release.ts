/**
 * Dates the section of the changelog for the version that `npm version` is about to commit and tag, and checks the files of the package.
 * It runs as the `version` step of
 *
 *     npm run release -- minor
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * Returns the changelog with the date in place of "unreleased".
 *
 * @throws Error if the changelog does not begin with an unreleased section for the version, or that section is empty
 */
export function dateChangelog(text: string, version: string, date: string): string {
  const section = /^## (\S+) \(unreleased\)\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text);
  const first = text.indexOf('\n## ');
  if (section === null || section.index !== first + 1)
    throw new Error(`CHANGELOG.md must begin with a section "## ${version} (unreleased)".`);
  if (section[1] !== version)
    throw new Error(`CHANGELOG.md has an unreleased section for ${section[1]}, not for ${version}: rename it.`);
  if (section[2]!.trim() === '') throw new Error(`The section of CHANGELOG.md for ${version} is empty.`);
  return text.replace(`## ${version} (unreleased)`, `## ${version} (${date})`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const changelog = new URL('../CHANGELOG.md', import.meta.url);
  const version = process.env['npm_package_version'] ?? '';
  const date = new Date().toISOString().slice(0, 10);
  try {
    writeFileSync(changelog, dateChangelog(readFileSync(changelog, 'utf8'), version, date));
    for (const step of ['build', 'package:check']) execFileSync('npm', ['run', step], { stdio: 'inherit' });
    execFileSync('git', ['add', 'CHANGELOG.md'], { stdio: 'inherit' });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
