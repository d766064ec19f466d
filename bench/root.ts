import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project: the suite runs as sources in tests and as a build in a temporary folder otherwise. */
export function projectRoot(): string {
  const given = process.env['PEGWIRE_ROOT'];
  if (given !== undefined) return given;
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
}
