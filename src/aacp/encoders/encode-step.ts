/** Any step of the encoders that come with pegwire, by its names. */
import { nearest } from '../../text/suggest.js';
import { anyText, quotedShort } from '../../text/visible.js';
import { type EncodeCode, EncodeError } from '../build/errors.js';
import { type Aliases, type ENCODERS, PLANS } from './builtin.js';
import type { EncodeOptions } from './options.js';
import type { StepResult } from './result.js';
import type { CamelCase } from './typing.js';

type Encoders = typeof ENCODERS;

/** The encoders, by the names of the reference SDK and by short ones. Names of them are checked when the program is compiled. */
export type EncoderName = keyof Encoders | keyof Aliases;

type Encoder<Name extends EncoderName> = Encoders[Name extends keyof Aliases ? Aliases[Name] : Name & keyof Encoders];

/** The methods of an encoder, by the names of the reference SDK and in camel case. */
export type MethodName<Name extends EncoderName> = keyof Encoder<Name> | CamelCase<keyof Encoder<Name>>;

/** The function behind either spelling. */
type MethodOf<Name extends EncoderName, Method> = {
  [K in keyof Encoder<Name>]: Method extends K | CamelCase<K> ? Encoder<Name>[K] : never;
}[keyof Encoder<Name>];

type ArgsOf<F> = F extends (args: infer Args, options?: EncodeOptions) => unknown ? Args : never;
type ResultOf<F> = F extends (...args: never[]) => infer Result ? Result : never;

/** Names that are only known at run time. */
type IsLoose<Name, Method> = string extends Name ? true : string extends Method ? true : false;

/** What a method takes; `never` for names that are none. */
export type EncodeArgs<Name extends string, Method extends string> =
  IsLoose<Name, Method> extends true
    ? Readonly<Record<string, unknown>>
    : Name extends EncoderName
      ? Method extends MethodName<Name>
        ? ArgsOf<MethodOf<Name, Method>>
        : never
      : never;

/** What a method gives: one packet, or several; by names that are only known at run time, the one or the other. */
export type EncodeResult<Name extends string, Method extends string> =
  IsLoose<Name, Method> extends true
    ? StepResult | readonly StepResult[]
    : Name extends EncoderName
      ? Method extends MethodName<Name>
        ? ResultOf<MethodOf<Name, Method>>
        : never
      : never;

/**
 * The packet of a step, or the packets of a sequence.
 *
 * Source: draft-mackay-aacp-01, section 6.1; names and arguments are those of the reference SDK.
 *
 * @param encoder `PayrollEncoder`, or short `payroll`
 * @param method `fetch_employees`, or `fetchEmployees`
 * @throws EncodeError with code `unknown-encoder` or `unknown-method`, or with the name of an input that cannot be written
 * @throws TypeError on options that are none
 * @example
 * encodeStep('PayrollEncoder', 'fetch_employees', { period: '2024-08' }).packet
 * // 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json'
 */
export function encodeStep<const Name extends string, const Method extends string>(
  encoder: Name,
  method: Method,
  args: EncodeArgs<Name, Method>,
  options?: EncodeOptions,
): EncodeResult<Name, Method> {
  const plan = PLANS.get(encoder);
  if (plan === undefined) throw unknownName('unknown-encoder', 'encoder', encoder, [...PLANS.keys()]);
  const { methods } = plan;
  const found = methods.get(method);
  if (found === undefined) throw unknownName('unknown-method', 'method', method, [...methods.keys()]);
  // The names tell which of the two it is.
  return found.run(args, options) as EncodeResult<Name, Method>;
}

function unknownName(code: EncodeCode, path: string, name: unknown, known: readonly string[]): EncodeError {
  const near = typeof name === 'string' ? nearest(name, known) : undefined;
  const help = near === undefined ? `there are ${known.join(', ')}` : `did you mean "${near}"?`;
  return new EncodeError({ code, path, message: `there is no ${path} ${quotedShort(anyText(name))}`, help });
}
