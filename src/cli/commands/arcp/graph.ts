import { ExecutionGraph, mermaidText, type NodeState, svgText, treeText } from '../../../arcp/index.js';
import { toJson } from '../../io/json.js';
import type { Style } from '../../io/output.js';
import { defineCommand } from '../../options/command.js';
import { choice, text } from '../../options/option.js';
import { readMessages } from './logs.js';

const STYLES: Readonly<Record<NodeState, Style>> = {
  completed: 'green',
  granted: 'green',
  failed: 'red',
  denied: 'red',
  cancelled: 'yellow',
  running: 'cyan',
  queued: 'dim',
  accepted: 'dim',
  open: 'bold',
  blocked: 'yellow',
  paused: 'yellow',
  unknown: 'dim',
};

export const command = defineCommand({
  takes: 'file',
  options: {
    format: choice('FORMAT', 'Output format: text (default), svg or mermaid', ['text', 'svg', 'mermaid']),
    trace: text('ID', 'Draw only the messages of this trace'),
  },
  details: 'The input is a log with one message per line, in any order, or a database of pegwire arcp serve --db.',
  example: ['pegwire arcp graph arcp.db', 'pegwire arcp graph log.jsonl --format svg > log.svg'],
  run: async (invocation) => {
    const { output, json, options } = invocation;
    const { trace } = options;
    const { messages, fault } = await readMessages(invocation);
    const graph = ExecutionGraph.from(
      trace === undefined ? messages : messages.filter(({ trace_id: id }) => id === trace),
    );
    if (json) {
      for (const { parent, children, ...node } of graph)
        await output.result(toJson({ ...node, parent: parent?.id, children: children.map(({ id }) => id) }));
    } else if (fault === undefined || messages.length > 0) {
      const drawings = {
        text: () => treeText(graph, (state, title) => output.paint(STYLES[state], title)),
        svg: () => svgText(graph),
        mermaid: () => mermaidText(graph),
      };
      const drawn = drawings[options.format]();
      if (drawn !== '') await output.result(drawn);
    }
    // A log that is cut off is shown as far as it goes.
    if (fault !== undefined) throw fault;
    return 0;
  },
});
