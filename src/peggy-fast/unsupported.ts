/** Something that this back end leaves to Peggy's own code: the grammar works as before, only not faster. */
export class Unsupported extends Error {}
