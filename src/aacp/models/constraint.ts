/** Constraints on what a model writes: the strictest one that the provider takes. */
import { type HttpFault, httpFaultOf } from './http-fault.js';
import type { GrammarNotation, ModelRequest } from './model.js';
import type { ModelNotice } from './notice.js';

/** One way to ask, and how it is called in an error that refuses it. */
export interface Constraint<Name extends string> {
  readonly name: Name;
  /** The grammar that it needs. */
  readonly notation: GrammarNotation | null;
  /** Words of which an error has one, in lower case, when it is about this constraint. */
  readonly words: readonly string[];
}

export interface ConstraintLadder<Name extends string> {
  /**
   * Asks with the strictest constraint that was not refused, and with the next one when it is refused. A refusal is kept in
   * mind once a later constraint has got an answer.
   *
   * @param explain what an error says, for a notice
   */
  readonly ask: <T>(
    request: ModelRequest,
    attempt: (name: Name, grammar: string | null) => Promise<T>,
    explain: (thrown: unknown) => string,
  ) => Promise<T>;
}

/** Statuses with which servers refuse what they do not know. */
const REFUSING = [400, 404, 422, 501];

/**
 * @param constraints strictest first; the last one must need nothing of the provider
 */
export function createLadder<Name extends string>(
  provider: string,
  constraints: readonly Constraint<Name>[],
  onNotice: (notice: ModelNotice) => void,
): ConstraintLadder<Name> {
  /** The strictest that was not refused so far. */
  let current = 0;

  function tell(code: ModelNotice['code'], from: number, to: number, reason: string): void {
    const names = { from: constraints[from]!.name, to: constraints[to]!.name };
    const until = code === 'constraint-refused' ? 'from now on' : 'for this request';
    const message = `The constraint ${names.from} gives way to ${names.to} ${until}. ${reason}`;
    try {
      onNotice({ code, message, provider, ...names });
    } catch {
      // Whoever listens badly does not lose a reply that is paid for.
    }
  }

  return {
    async ask(request, attempt, explain) {
      let refusal: string | null = null;
      for (let index = current; ; index++) {
        const { name, notation, words } = constraints[index]!;
        const isLast = index === constraints.length - 1;
        let grammar: string | null = null;
        try {
          if (notation !== null) grammar = await request.grammar(notation);
        } catch (thrown) {
          if (isLast) throw thrown;
          tell('grammar-unavailable', index, index + 1, thrown instanceof Error ? thrown.message : String(thrown));
          continue;
        }
        try {
          const answer = await attempt(name, grammar);
          // Another request may have found it out in the meantime.
          if (refusal !== null && index > current) {
            const from = current;
            current = index;
            tell('constraint-refused', from, index, refusal);
          }
          return answer;
        } catch (thrown) {
          if (isLast || !refuses(httpFaultOf(thrown), words)) throw thrown;
          refusal = explain(thrown);
        }
      }
    },
  };
}

/** Whether an error is about the constraint, or may be, since it says nothing at all. */
function refuses(fault: HttpFault | null, words: readonly string[]): boolean {
  if (fault === null || !REFUSING.includes(fault.status)) return false;
  const { status, message, parameter } = fault;
  if (message === '' && parameter === null) return status !== 404;
  const told = `${parameter ?? ''} ${message}`.toLowerCase();
  return words.some((word) => told.includes(word));
}
