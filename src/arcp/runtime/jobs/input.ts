/** What a handler is called with. */
import type { StartingCommand } from './spec.js';

export function inputOf(command: StartingCommand): unknown {
  if (command.type === 'workflow.start') return command.payload.inputs ?? {};
  if (command.type === 'tool.invoke') return command.payload.arguments ?? {};
  return { task: command.payload.task, ...(command.payload.arguments ?? {}) };
}
