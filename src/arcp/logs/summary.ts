/** Messages in a few words, for lists. */
import type { Envelope } from '../protocol/envelope.js';

/** The meaning of a message, by which it is coloured. */
export type Tone = 'start' | 'call' | 'progress' | 'checkpoint' | 'success' | 'warning' | 'failure' | 'detail';

/** A message in a few words: its meaning, its subject, and details. */
export type Summary = readonly [tone: Tone, what: string, more?: string | undefined];

/** The longest JSON value that is shown. */
const MAX_SHOWN = 160;

/** Returns a message in a few words, which may contain any characters; `undefined` for messages that only maintain the connection. */
export function summaryOf(message: Envelope): Summary | undefined {
  switch (message.type) {
    case 'job.accepted': {
      const { tool, workflow, agent, state, duplicate, job_id } = message.payload;
      return [
        'start',
        `${tool ?? workflow ?? agent ?? 'job'} ${state}`,
        `${job_id}${duplicate === true ? ', duplicate' : ''}`,
      ];
    }
    case 'job.started':
      return message.payload.attempt === 1 ? ['start', 'started'] : ['start', `attempt ${message.payload.attempt}`];
    case 'job.progress': {
      const { percent, message: text, current, total, unit = '' } = message.payload;
      const count =
        current === undefined ? '' : `${current}${total === undefined ? '' : ` of ${total}`} ${unit}`.trim();
      return ['progress', percent === undefined ? count || 'progress' : `${percent} %`, text];
    }
    case 'job.checkpoint':
      return ['checkpoint', 'checkpoint', message.payload.label ?? message.payload.checkpoint_id];
    case 'job.completed':
      return ['success', 'completed', shown(message.payload.result)];
    case 'job.failed':
    case 'nack':
      return [
        'failure',
        message.type === 'nack' ? 'rejected' : 'failed',
        `${message.payload.code}: ${message.payload.message}`,
      ];
    case 'job.cancelled':
      return ['warning', 'cancelled', `by ${message.payload.cause}${reason(message.payload.reason)}`];
    case 'tool.invoke':
      return ['call', `calls ${message.payload.tool}`, shown(message.payload.arguments)];
    case 'tool.result':
      return ['success', 'result', shown(message.payload.result)];
    case 'tool.error': {
      const { code, message: text, will_retry: again } = message.payload;
      return [
        again === true ? 'warning' : 'failure',
        again === true ? 'error, will retry' : 'error',
        `${code}: ${text}`,
      ];
    }
    case 'workflow.complete':
      return [message.payload.status === 'completed' ? 'success' : 'failure', `workflow ${message.payload.status}`];
    case 'agent.delegate':
      return ['call', `delegates to ${message.payload.target}`, message.payload.task];
    case 'agent.handoff':
      return ['call', `hands off to ${message.payload.target ?? 'another runtime'}`, message.payload.reason];
    case 'workflow.start':
      return ['call', `starts ${message.payload.workflow}`, shown(message.payload.inputs)];
    case 'permission.request': {
      const { permission, resource = '', reason: why } = message.payload;
      return ['warning', `requests ${permission}`, `${resource}${reason(why)}`];
    }
    case 'log': {
      const { level, message: text } = message.payload;
      return [/^(?:error|critical)$/.test(level) ? 'failure' : level === 'warn' ? 'warning' : 'detail', level, text];
    }
    case 'metric':
      return ['detail', message.payload.name, `${message.payload.value}${message.payload.unit ?? ''}`];
    case 'trace.span':
      return ['detail', `span ${message.payload.name}`];
    case 'event.emit': {
      const { name, attributes = {} } = message.payload;
      if (name === 'arcp.job.state') return ['detail', String(attributes['to']), String(attributes['reason'] ?? '')];
      return ['detail', name, shown(attributes)];
    }
    case 'stream.open':
      return ['detail', `stream ${message.payload.name ?? message.payload.kind}`];
    case 'stream.chunk': {
      const { data, event, log, metric } = message.payload;
      return ['progress', '│', data === undefined ? shown(event ?? log ?? metric) : data.trimEnd()];
    }
    case 'stream.error':
      return ['failure', 'stream failed', `${message.payload.code}: ${message.payload.message}`];
    default:
      return undefined;
  }
}

function reason(text: string | undefined): string {
  return text === undefined ? '' : `: ${text}`;
}

function shown(value: unknown): string {
  if (value === undefined) return '';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
