/** The files of the repository, on this machine and on the web. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the paths of the Markdown files of the repository, but for the pages that are the site's own. */
export function markdownFiles(): readonly string[] {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
  const files = execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const isRead = (file: string) =>
    file !== '' && !file.startsWith('scripts/docs/') && existsSync(path.join(ROOT, file));
  return [...new Set(files)].filter(isRead).toSorted();
}

/** Returns the address of the repository. */
export async function repositoryAddress(): Promise<string> {
  const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly repository: { readonly url: string };
  };
  return manifest.repository.url.replace(/^git\+|\.git$/g, '');
}
