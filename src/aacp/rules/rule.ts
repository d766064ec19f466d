/** One rule: an instruction that is known beforehand, and the packet for it. */

/** The reference rule format, and what pegwire adds to it (`phrases`, `workflow`). */
export interface Rule {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly task: string;
  readonly domain: string;
  /** A packet; with `phrases` it may hold slots: `period:{period}`. */
  readonly packet: string;
  readonly tags: readonly string[];
  readonly version: string;
  readonly source: string;
  /**
   * Instructions that ask for it, with slots in braces: `retrieve the salary records for {period}`. Without any, its
   * name serves as one, alone or behind the verb of its TASK: `fetch customer profile`.
   */
  readonly phrases: readonly string[];
  /** The step that makes the packet instead, with the slots that are its inputs. */
  readonly workflow: RuleWorkflow | null;
}

export interface RuleWorkflow {
  /** `PayrollEncoder` */
  readonly encoder: string;
  /** `fetch_employees` */
  readonly method: string;
  /** Inputs; a text may hold slots. */
  readonly args: Readonly<Record<string, string | readonly string[]>>;
}
