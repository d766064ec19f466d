/**
 * apg-js on `grammar/accp.abnf`. The draft's own ABNF, run in its order, accepts about a third of the frames: an ordered choice
 * takes `12` for all of `12abc`. There a literal is one lexeme, which the callback tells apart, and case counts.
 */
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import type { Candidate, Read } from '../../src/bench/candidate.js';
import { compileAbnf } from './apg-grammar.js';
import { checkItems, checkText, distinct, Refusal, typedLiteral } from './rules.js';

export const apg: Candidate = { id: 'apg', name: 'apg-js', protocol: 'accp', builds: 'ast', prepare };

/** What the callbacks share. Parts come before the phrase that holds them; a mark tells where its own begin. */
interface Building {
  readonly text: string;
  readonly names: string[];
  readonly values: Value[];
  readonly params: Param[];
  readonly marks: number[];
  payload: Param[];
  metadata: Param[] | null;
}

type Callback = (state: number, characters: unknown, start: number, length: number, building: Building) => number;

async function prepare(): Promise<Read> {
  const { apgLib, grammar } = await compileAbnf('accp');
  const { SEM_PRE, SEM_OK } = apgLib.ids;

  const leaf =
    (build: (building: Building, phrase: string) => void): Callback =>
    (state, _characters, start, length, building) => {
      if (state !== SEM_PRE) build(building, building.text.slice(start, start + length));
      return SEM_OK;
    };
  const list =
    <Item>(stack: (building: Building) => Item[], build: (building: Building, items: Item[]) => void): Callback =>
    (state, _characters, _start, _length, building) => {
      if (state === SEM_PRE) building.marks.push(stack(building).length);
      else build(building, stack(building).splice(building.marks.pop()!));
      return SEM_OK;
    };
  const name = leaf(({ names }, phrase) => names.push(phrase));
  const params = ({ params }: Building): Param[] => params;

  const tree = new apgLib.ast();
  Object.assign(tree.callbacks, {
    'agent-id': name,
    intent: name,
    operation: name,
    key: name,
    'typed-literal': leaf(({ values }, phrase) => values.push(typedLiteral(phrase))),
    null: leaf(({ values }) => values.push({ kind: 'null' })),
    ref: leaf(({ values }, phrase) => values.push({ kind: 'ref', path: phrase.slice(1) })),
    param: leaf(({ params, names, values }) => params.push({ key: names.pop()!, value: values.pop()! })),
    payload: list(params, (building, found) => {
      building.payload = distinct(found);
    }),
    metadata: list(params, (building, found) => {
      building.metadata = distinct(found);
    }),
    map: list(params, ({ values }, found) => values.push({ kind: 'map', entries: distinct(found) })),
    array: list(
      ({ values }) => values,
      ({ values }, items) => values.push({ kind: 'array', items }),
    ),
  });
  const parser = new apgLib.parser();
  parser.ast = tree;

  return (text) => {
    checkText(text);
    if (!parser.parse(grammar, 'frame', text).success) throw new Refusal('no frame');
    const building: Building = { text, names: [], values: [], params: [], marks: [], payload: [], metadata: null };
    tree.translate(building);
    const [agent = '', intent = '', operation = ''] = building.names;
    const { payload, metadata } = building;
    const frame: Frame = { kind: 'frame', agent, intent, operation, payload, metadata };
    return checkItems(frame);
  };
}
