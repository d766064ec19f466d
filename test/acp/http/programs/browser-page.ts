/** A web page that has a turn with an agent of another origin, over each transport. */
import { connectAcp } from '../../../../src/acp/http/portable.js';
import { runProgram } from '../../../helpers/page-program.js';
import { ourTurn } from '../turn.js';

/** A connection that the page opens. */
export interface Attempt {
  readonly url: string;
  readonly token?: string;
}

/** Returns the texts of each turn, or the code of the error with which it failed. */
await runProgram(async ({ attempts }: { readonly attempts: readonly Attempt[] }) => {
  const outcomes: (string | string[])[] = [];
  for (const { url, token } of attempts)
    outcomes.push(await ourTurn(connectAcp(url, { token })).catch(({ code }: { readonly code: string }) => code));
  return outcomes;
});
