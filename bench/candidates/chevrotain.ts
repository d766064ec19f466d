/** Chevrotain with actions embedded in the rules, the faster of its two ways. */
import type { ParserMethod } from 'chevrotain';
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import type { Candidate, Read } from '../../src/bench/candidate.js';
import {
  AGENT_ID,
  checkItems,
  checkText,
  distinct,
  INTENT,
  named,
  PATH,
  Refusal,
  typedLiteral,
  WORD,
} from './rules.js';

export const chevrotain: Candidate = { id: 'chevrotain', name: 'chevrotain', protocol: 'accp', builds: 'ast', prepare };

async function prepare(): Promise<Read> {
  const { createToken, EmbeddedActionsParser, Lexer } = await import('chevrotain');

  // Names and values share most characters, so one token stands for all of them and the actions look at what is in it.
  const Text = createToken({ name: 'Text', pattern: /(?:[!-#%-+\--9;-=?A-Z^-z]|\\[@>:{}[\]|$,~\\])+/ });
  const [At, To, Colon, OpenBrace, CloseBrace, OpenBracket, CloseBracket, Bar, Comma, Dollar, Tilde] = Object.entries({
    ...{ At: '@', To: '>', Colon: ':', OpenBrace: '{', CloseBrace: '}', OpenBracket: '[', CloseBracket: ']' },
    ...{ Bar: '|', Comma: ',', Dollar: '$', Tilde: '~' },
  }).map(([name, pattern]) => createToken({ name, pattern }));
  const tokens = [
    Text,
    Colon!,
    Comma!,
    Bar!,
    OpenBrace!,
    CloseBrace!,
    OpenBracket!,
    CloseBracket!,
    Dollar!,
    Tilde!,
    At!,
    To!,
  ];

  class FrameParser extends EmbeddedActionsParser {
    readonly frame: ParserMethod<[], Frame> = this.RULE('frame', () => {
      this.CONSUME(At!);
      const agent = this.CONSUME(Text).image;
      this.CONSUME(To!);
      const intent = this.CONSUME2(Text).image;
      this.CONSUME(Colon!);
      const operation = this.CONSUME3(Text).image;
      this.CONSUME(OpenBrace!);
      const payload = this.OPTION(() => this.SUBRULE(this.payload)) ?? [];
      this.CONSUME(CloseBrace!);
      const metadata = this.OPTION2(() => this.SUBRULE(this.metadata)) ?? null;
      return this.ACTION(() => ({
        kind: 'frame' as const,
        agent: named(agent, AGENT_ID),
        intent: named(intent, INTENT),
        operation: named(operation, WORD),
        payload,
        metadata,
      }));
    });

    readonly payload: ParserMethod<[], Param[]> = this.RULE('payload', () => {
      const list: Param[] = [];
      this.AT_LEAST_ONE_SEP({ SEP: Bar!, DEF: () => list.push(this.SUBRULE(this.param)) });
      return this.ACTION(() => distinct(list));
    });

    readonly metadata: ParserMethod<[], Param[]> = this.RULE('metadata', () => {
      const list: Param[] = [];
      this.CONSUME(OpenBracket!);
      this.AT_LEAST_ONE_SEP({ SEP: Comma!, DEF: () => list.push(this.SUBRULE(this.param)) });
      this.CONSUME(CloseBracket!);
      return this.ACTION(() => distinct(list));
    });

    readonly param: ParserMethod<[], Param> = this.RULE('param', () => {
      const key = this.CONSUME(Text).image;
      this.CONSUME(Colon!);
      const value = this.SUBRULE(this.value);
      return this.ACTION(() => ({ key: named(key, WORD), value }));
    });

    readonly value: ParserMethod<[], Value> = this.RULE('value', () =>
      this.OR<Value>([
        { ALT: () => this.SUBRULE(this.literal) },
        { ALT: () => this.SUBRULE(this.array) },
        { ALT: () => this.SUBRULE(this.map) },
        { ALT: () => this.SUBRULE(this.none) },
        { ALT: () => this.SUBRULE(this.ref) },
      ]),
    );

    readonly literal: ParserMethod<[], Value> = this.RULE('literal', () => {
      const { image } = this.CONSUME(Text);
      return this.ACTION(() => typedLiteral(image));
    });

    readonly array: ParserMethod<[], Value> = this.RULE('array', () => {
      const items: Value[] = [];
      this.CONSUME(OpenBracket!);
      this.MANY_SEP({ SEP: Comma!, DEF: () => items.push(this.SUBRULE(this.value)) });
      this.CONSUME(CloseBracket!);
      return { kind: 'array' as const, items };
    });

    readonly map: ParserMethod<[], Value> = this.RULE('map', () => {
      const entries: Param[] = [];
      this.CONSUME(OpenBrace!);
      this.MANY_SEP({ SEP: Comma!, DEF: () => entries.push(this.SUBRULE(this.param)) });
      this.CONSUME(CloseBrace!);
      return this.ACTION(() => ({ kind: 'map' as const, entries: distinct(entries) }));
    });

    readonly none: ParserMethod<[], Value> = this.RULE('none', () => {
      this.CONSUME(Tilde!);
      return { kind: 'null' as const };
    });

    readonly ref: ParserMethod<[], Value> = this.RULE('ref', () => {
      this.CONSUME(Dollar!);
      const path = this.CONSUME(Text).image;
      return this.ACTION(() => ({ kind: 'ref' as const, path: named(path, PATH) }));
    });

    constructor() {
      super(tokens, { maxLookahead: 1 });
      this.performSelfAnalysis();
    }
  }

  const lexer = new Lexer(tokens, { positionTracking: 'onlyOffset' });
  const parser = new FrameParser();
  return (text) => {
    checkText(text);
    const { tokens: found, errors } = lexer.tokenize(text);
    if (errors.length > 0) throw new Refusal(errors[0]!.message);
    parser.input = found;
    const frame = parser.frame();
    if (parser.errors.length > 0) throw new Refusal(parser.errors[0]!.message);
    return checkItems(frame);
  };
}
