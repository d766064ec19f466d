/** The long variant of a test in `processes.programs.test.ts`. */
import { test } from 'vitest';
import { freshFiles } from '../../storage/folder.js';
import { killTimeAndAgain } from './children.js';

const fresh = freshFiles();

test('a process that is killed at fifty random points loses nothing, and leaves the file intact', async () => {
  await killTimeAndAgain(fresh(), 50);
});
