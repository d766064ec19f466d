/** Places in a message, as error messages name them. */
import { quotedShort } from '../../text/visible.js';

/** One step down: a key of a map, or an index of an array. */
export type Step = string | number;

const WORD = /^[A-Za-z_][A-Za-z0-9_]{0,79}$/;
/** Deeper places are cut: nobody reads on. */
const MOST_STEPS = 16;

/** `payload.args["file name"][2]`, from the steps below the payload. */
export function pathText(steps: readonly Step[]): string {
  let text = 'payload';
  for (let index = 0; index < steps.length; index++) {
    if (index === MOST_STEPS) return `${text}...`;
    const step = steps[index]!;
    text += stepText(step);
  }
  return text;
}

/** One step of a path: `.args`, `["file name"]`, `[2]`. */
export function stepText(step: Step): string {
  if (typeof step === 'number') return `[${step}]`;
  return WORD.test(step) ? `.${step}` : `[${quotedShort(step)}]`;
}
