/** Implementations under test, and what they say of a text. */

/** JSON as an adapter writes it. Trees follow `conformance/README.md`: big integers are strings of digits. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** What an implementation says of one text: the line of JSON that an adapter answers with. */
export type Answer =
  | { readonly ok: true; readonly ast?: Json; readonly canonical?: string }
  | {
      readonly ok: false;
      readonly code?: string;
      /** Why a well-formed text is refused all the same, in a word: `duplicate-key`, `limit`. */
      readonly reason?: string;
      /** In UTF-16 code units. */
      readonly offset?: number;
      readonly message?: string;
    };

/**
 * What came of asking. All but `answer` are findings by themselves; a `note` says what else is known of how they came about.
 */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The program ended, or the function threw. `detail`: the exit code or signal, and the end of what it wrote to stderr. */
  | { readonly kind: 'crash'; readonly detail: string; readonly note?: string }
  /** No answer within the time limit, in milliseconds. */
  | { readonly kind: 'hang'; readonly limit: number; readonly note?: string }
  /** The program took more memory than the limit, in bytes. */
  | { readonly kind: 'memory'; readonly limit: number; readonly note?: string }
  /** An answer that is not of the protocol. */
  | { readonly kind: 'garbage'; readonly detail: string; readonly note?: string };

/** One text to read. Members beyond `input` are for those who can use them. */
export interface Request {
  readonly input: string;
  readonly dialect?: string;
}

/** An implementation under test. Calls may overlap: what cannot do many at once queues them. */
export interface Target {
  readonly name: string;
  /** Of a program: what starts it, for the shell. */
  readonly command?: string | undefined;
  /**
   * Never rejects for what the implementation does with a text: that is an outcome. Rejects with a `TargetError` when the
   * implementation cannot be asked at all.
   */
  readonly read: (request: Request) => Promise<Outcome>;
  readonly close: () => Promise<void>;
}
