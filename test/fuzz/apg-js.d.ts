/** The used part of a package without types. */
declare module 'apg-js' {
  const library: {
    readonly apgLib: {
      readonly ids: { readonly SEM_PRE: number; readonly SEM_OK: number };
      readonly parser: new () => {
        ast: unknown;
        /** Code points in place of a string with surrogates, on which apg-js throws. */
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
