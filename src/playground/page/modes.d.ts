/** The highlighting of the editor, which the build makes with `codeMirrorMode` from the token tables of the grammars. */
declare module 'virtual:modes' {
  import type { StreamParser } from '@codemirror/language';

  export const accp: StreamParser<unknown>;
  export const aacp: StreamParser<unknown>;
  export const json: StreamParser<unknown>;
  export const peg: StreamParser<unknown>;
}
