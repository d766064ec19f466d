/** As much as is used here of packages that have no types. */
declare module 'nearley' {
  export interface Rule {
    readonly name: string;
    readonly symbols: readonly unknown[];
    readonly postprocess?: (parts: never) => unknown;
  }
  export interface Parser {
    readonly results: readonly unknown[];
    feed(text: string): this;
  }
  const library: {
    readonly Grammar: {
      fromCompiled(rules: { Lexer: unknown; ParserRules: readonly Rule[]; ParserStart: string }): object;
    };
    readonly Parser: new (grammar: object) => Parser;
  };
  export default library;
}

declare module 'apg-js' {
  const library: {
    readonly apgLib: {
      readonly ids: { readonly SEM_PRE: number; readonly SEM_OK: number };
      readonly parser: new () => {
        ast: unknown;
        /** Code points, where a string would hold surrogates: apg-js throws on those. */
        parse(grammar: object, startRule: string, text: string | readonly number[]): { readonly success: boolean };
      };
      readonly ast: new () => { readonly callbacks: object; translate(data: object): void };
    };
    readonly apgApi: new (
      source: string,
    ) => { readonly errors: readonly unknown[]; generate(): void; toObject(): object };
  };
  export default library;
}
