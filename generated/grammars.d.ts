// Made from the grammars in grammar/ by `npm run generate`. Do not edit.
/** The text of grammar/accp.peggy. */
export declare const accp: string;
/** The text of grammar/aacp.peggy. */
export declare const aacp: string;
