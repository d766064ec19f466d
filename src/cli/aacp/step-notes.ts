/** What there is to say about the packet of a step, for people. */
import type { EncodeLoss, StepResult } from '../../aacp/encoders/index.js';
import { quoted } from '../../text/visible.js';
import type { Line } from '../io/input.js';
import type { Invocation } from '../options/command.js';
import { noteRequest } from './refusal.js';

const CHANGES: Readonly<Record<Exclude<EncodeLoss['kind'], 'referenced'>, string>> = {
  'upper-case': 'in capitals',
  'lower-case': 'in lower case',
  'space-to-hyphen': 'with hyphens for spaces',
  'space-to-underscore': 'with underscores for spaces',
  'hyphen-to-underscore': 'with underscores for hyphens',
  rounded: 'rounded',
  transformed: 'as the workflow changes it',
  'known-to-receiver': 'left out, since the receiver has it',
  'not-emitted': 'left out, as the reference SDK does',
};

/** @param several whether there are other packets that it could be about */
export async function noteStep(
  invocation: Invocation,
  line: Line | null,
  { losses, diagnostics, lint, referenced, step }: StepResult,
  several: boolean,
): Promise<void> {
  const note = (text: string): Promise<void> => noteRequest(invocation, line, several ? `${step}: ${text}` : text);
  // What is behind the pointer is told once, below.
  for (const { input, key, kind, from, to } of losses) {
    if (kind === 'referenced') continue;
    const place = key === null ? '' : ` in ${key}`;
    const change = to === null ? 'is' : `stands${place} as ${quoted(to)},`;
    await note(`${input} ${quoted(from)} ${change} ${CHANGES[kind]}`);
  }
  if (referenced !== null) {
    const data = Object.entries(referenced.data).map(([name, value]) => `${name} ${quoted(value)}`);
    await note(`data_ptr ${referenced.pointer} stands for ${data.join(', ')}: keep it where the receiver looks it up`);
  }
  for (const { severity, code, message } of diagnostics) await note(`${severity}[${code}]: ${message}`);
  for (const { severity, code, input, message, help } of lint) {
    const place = input === null ? '' : `${input}: `;
    const advice = help === undefined ? message : `${message.replace(/\.$/, '')}; ${help}`;
    await note(`${severity}[${code}]: ${place}${advice}`);
  }
}
