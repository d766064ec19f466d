/** References to state, apart from plain data: an object of a user's that looks like one is none. */

const PATH = /^[A-Za-z0-9_.]+$/;

/**
 * A value that lies in state (draft-benzing-accp-00, sections 3.1 and 5.1): `$warm.ckpt_1.status` on the wire.
 *
 * It is a class so that data cannot pass for it: whoever forwards JSON from elsewhere in a message must not be made to read
 * state by it.
 */
export class Reference {
  /** What follows the dollar sign: `warm.ckpt_1.status`. */
  readonly path: string;

  /** @throws TypeError on a path that is not made of letters, digits, `_` and `.` */
  constructor(path: string) {
    if (!PATH.test(path)) throw new TypeError(`"${path}" is no path of a reference: letters, digits, "_" and "."`);
    this.path = path;
  }

  toJSON(): { readonly $ref: string } {
    return { $ref: this.path };
  }
}

/**
 * A reference for a message's payload.
 *
 * @throws TypeError on a path that is not made of letters, digits, `_` and `.`
 * @example
 * codec.encode({ intent: 'qry', operation: 'lookup', payload: { source: ref('cold.sales_db') } }, session);
 */
export function ref(path: string): Reference {
  return new Reference(path);
}
