/** Messages as lines of text. */
import { ArcpError, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { errorJson, toJson } from '../../io/json.js';
import { labelled, type Paint, type Style } from '../../io/output.js';
import type { Invocation } from '../../options/command.js';

/** The longest JSON value that is shown. */
const MAX_SHOWN = 160;

/** Prints a message to stdout. */
export async function showMessage(
  { json, output }: Pick<Invocation, 'json' | 'output'>,
  message: Envelope,
): Promise<void> {
  const line = json ? toJson(message) : lineOf(message, output.paint);
  if (line !== undefined) await output.result(line);
}

/** Formats a message. @returns `undefined` for messages that only maintain the connection */
export function lineOf(message: Envelope, paint: Paint): string | undefined {
  const summary = summaryOf(message);
  if (summary === undefined) return undefined;
  const [style, what, more = ''] = summary;
  const time = paint('dim', message.timestamp.replace(/^.*T/, '').replace(/(\.\d{3})\d*/, '$1'));
  return `${time} ${paint(style, visible(what))}${more === '' ? '' : ` ${visible(more)}`}`;
}

type Summary = readonly [style: Style, what: string, more?: string | undefined];

function summaryOf(message: Envelope): Summary | undefined {
  switch (message.type) {
    case 'job.accepted': {
      const { tool, workflow, agent, state, duplicate, job_id } = message.payload;
      return [
        'bold',
        `${tool ?? workflow ?? agent ?? 'job'} ${state}`,
        `${job_id}${duplicate === true ? ', duplicate' : ''}`,
      ];
    }
    case 'job.started':
      return message.payload.attempt === 1 ? ['bold', 'started'] : ['bold', `attempt ${message.payload.attempt}`];
    case 'job.progress': {
      const { percent, message: text, current, total, unit = '' } = message.payload;
      const count =
        current === undefined ? '' : `${current}${total === undefined ? '' : ` of ${total}`} ${unit}`.trim();
      return ['cyan', percent === undefined ? count || 'progress' : `${percent} %`, text];
    }
    case 'job.checkpoint':
      return ['blue', 'checkpoint', message.payload.label ?? message.payload.checkpoint_id];
    case 'job.completed':
      return ['green', 'completed', shown(message.payload.result)];
    case 'job.failed':
    case 'nack':
      return [
        'red',
        message.type === 'nack' ? 'rejected' : 'failed',
        `${message.payload.code}: ${message.payload.message}`,
      ];
    case 'job.cancelled':
      return ['yellow', 'cancelled', `by ${message.payload.cause}${reason(message.payload.reason)}`];
    case 'tool.invoke':
      return ['magenta', `calls ${message.payload.tool}`, shown(message.payload.arguments)];
    case 'tool.result':
      return ['green', 'result', shown(message.payload.result)];
    case 'tool.error': {
      const { code, message: text, will_retry: again } = message.payload;
      return [again === true ? 'yellow' : 'red', again === true ? 'error, will retry' : 'error', `${code}: ${text}`];
    }
    case 'workflow.complete':
      return [message.payload.status === 'completed' ? 'green' : 'red', `workflow ${message.payload.status}`];
    case 'agent.delegate':
      return ['magenta', `delegates to ${message.payload.target}`, message.payload.task];
    case 'agent.handoff':
      return ['magenta', `hands off to ${message.payload.target ?? 'another runtime'}`, message.payload.reason];
    case 'workflow.start':
      return ['magenta', `starts ${message.payload.workflow}`, shown(message.payload.inputs)];
    case 'permission.request': {
      const { permission, resource = '', reason: why } = message.payload;
      return ['yellow', `requests ${permission}`, `${resource}${reason(why)}`];
    }
    case 'log': {
      const { level, message: text } = message.payload;
      return [/^(?:error|critical)$/.test(level) ? 'red' : level === 'warn' ? 'yellow' : 'dim', level, text];
    }
    case 'metric':
      return ['dim', message.payload.name, `${message.payload.value}${message.payload.unit ?? ''}`];
    case 'trace.span':
      return ['dim', `span ${message.payload.name}`];
    case 'event.emit': {
      const { name, attributes = {} } = message.payload;
      if (name === 'arcp.job.state') return ['dim', String(attributes['to']), String(attributes['reason'] ?? '')];
      return ['dim', name, shown(attributes)];
    }
    case 'stream.open':
      return ['dim', `stream ${message.payload.name ?? message.payload.kind}`];
    case 'stream.chunk': {
      const { data, event, log, metric } = message.payload;
      return ['cyan', '│', data === undefined ? shown(event ?? log ?? metric) : data.trimEnd()];
    }
    case 'stream.error':
      return ['red', 'stream failed', `${message.payload.code}: ${message.payload.message}`];
    default:
      return undefined;
  }
}

function reason(text: string | undefined): string {
  return text === undefined ? '' : `: ${text}`;
}

function shown(value: unknown): string {
  if (value === undefined) return '';
  const text = toJson(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

/** Reports why work failed. */
export async function noteFailure(
  { json, output }: Pick<Invocation, 'json' | 'output'>,
  thrown: unknown,
): Promise<void> {
  const { code, message } = thrown instanceof ArcpError ? thrown : new ArcpError('UNKNOWN', String(thrown));
  await output.note(json ? errorJson(code, message) : labelled('error', code, visible(message), output.paintNote));
}
