/** The work of `pegwire arcp graph`. */
import { ExecutionGraph, mermaidText, type NodeState, svgText, treeText } from '../../../arcp/index.js';
import { toJson } from '../../io/json.js';
import type { Style } from '../../io/output.js';
import { choice, type Invocation } from '../../options/command.js';
import { textOption } from '../../options/option.js';
import { readMessages } from './logs.js';

const FORMATS = ['text', 'svg', 'mermaid'] as const;

const STYLES: Readonly<Record<NodeState, Style>> = {
  ...{ completed: 'green', granted: 'green', failed: 'red', denied: 'red', cancelled: 'yellow' },
  ...{ running: 'cyan', queued: 'dim', accepted: 'dim', open: 'bold', blocked: 'yellow', paused: 'yellow' },
  unknown: 'dim',
};

export async function runGraph(invocation: Invocation): Promise<number> {
  const { output, json } = invocation;
  const format = choice(invocation, 'as', FORMATS);
  const trace = textOption(invocation, 'trace');
  const { messages, fault } = await readMessages(invocation);
  const graph = ExecutionGraph.from(
    trace === undefined ? messages : messages.filter(({ trace_id: id }) => id === trace),
  );
  if (json) {
    for (const { parent, children, ...node } of graph)
      await output.result(toJson({ ...node, parent: parent?.id, children: children.map(({ id }) => id) }));
  } else if (fault === undefined || messages.length > 0) {
    const text =
      format === 'svg'
        ? svgText(graph)
        : format === 'mermaid'
          ? mermaidText(graph)
          : treeText(graph, (state, title) => output.paint(STYLES[state], title));
    if (text !== '') await output.result(text);
  }
  // A log that was cut off shows what it holds.
  if (fault !== undefined) throw fault;
  return 0;
}
