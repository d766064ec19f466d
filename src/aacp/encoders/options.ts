/** The options of encoding one step, after checks and defaults. */
import type { TokenCounter } from '../../tokens/counter.js';
import type { Receiver } from './result.js';

/** How a step is encoded. */
export interface EncodeOptions {
  /**
   * `sdk`: the packets of the reference SDK 1.4.0, byte for byte but for `aacp:1.1`. It leaves inputs out, which the losses
   * tell, and puts personal data into fields. @default pegwire's packets, which say all that was given
   */
  readonly compat?: 'sdk' | undefined;
  /** Who reads the packet. */
  readonly receiver?: Receiver | undefined;
  /** What tokens are counted with. @default the exact counter for current models, where it is installed */
  readonly counter?: TokenCounter | undefined;
  /**
   * Where the personal data of a packet is: gives the value of `data_ptr` (section 15). It should give different pointers for
   * different data, and opaque ones where the data could be guessed.
   *
   * @default `sha256:` and the SHA-256 of the data as canonical JSON, in 64 hexadecimal digits. Anyone who guesses the data can
   *   check the guess by it.
   */
  readonly pointer?: ((data: Readonly<Record<string, string>>) => string) | undefined;
}

export interface Settings {
  readonly compat: boolean;
  readonly knowsFields: boolean;
  readonly counter: TokenCounter | undefined;
  readonly pointer: EncodeOptions['pointer'];
}

const NAMES = ['compat', 'receiver', 'counter', 'pointer'];

const DEFAULTS: Settings = { compat: false, knowsFields: false, counter: undefined, pointer: undefined };

/** @throws TypeError naming the option */
export function resolveOptions(options: EncodeOptions | undefined): Settings {
  if (options === undefined) return DEFAULTS;
  if (typeof options !== 'object' || options === null) throw new TypeError('the options are an object');
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) throw new TypeError(`there is no option ${name}; there are ${NAMES.join(', ')}`);
  }
  const { compat, receiver, counter, pointer } = options;
  if (compat !== undefined && compat !== 'sdk') throw new TypeError("compat is 'sdk', or left out");
  if (counter !== undefined && typeof counter?.count !== 'function') {
    throw new TypeError('counter has a function count; loadTokenCounter gives one');
  }
  if (pointer !== undefined && typeof pointer !== 'function') {
    throw new TypeError('pointer is a function from data to the text of a pointer');
  }
  return { compat: compat === 'sdk', knowsFields: knowsFieldsOf(receiver), counter, pointer };
}

function knowsFieldsOf(receiver: unknown): boolean {
  if (receiver === undefined) return false;
  if (typeof receiver !== 'object' || receiver === null) throw new TypeError('receiver is an object');
  const { knowsFields = false } = receiver as Receiver;
  if (typeof knowsFields !== 'boolean') throw new TypeError('receiver.knowsFields is a boolean');
  return knowsFields;
}
