/** The part of a page's program that exchanges data with `servePage` of `chromium.ts`. */

/** The outcome of a program: the error, or the result as JSON. */
export interface Outcome {
  readonly error?: string;
  readonly result?: unknown;
}

/** Runs the program of a page, and posts its outcome. @param program called with the parameters of the test */
export async function runProgram<Parameters>(program: (parameters: Parameters) => Promise<unknown>): Promise<void> {
  const { hash } = (globalThis as unknown as { readonly location: { readonly hash: string } }).location;
  const outcome = await program(JSON.parse(decodeURIComponent(hash.slice(1))) as Parameters).then(
    (result): Outcome => ({ result }),
    (thrown: unknown): Outcome => ({ error: thrown instanceof Error ? `${thrown.stack}` : String(thrown) }),
  );
  await fetch('/outcome', { method: 'POST', body: JSON.stringify(outcome) });
}
