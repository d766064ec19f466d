/** One message: as a tree, as wire text, in plain English, and its tokens. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Frame } from '../../accp/ast.js';
import { printFrame } from '../../accp/print.js';
import { jsonLoss } from '../../text/json-loss.js';
import { answersTo, type Draft } from './answers.js';
import type { FeedClient } from './feed-client.js';
import { filterTerm } from './filter.js';
import { type Content, explain, type Message, readContent, start } from './message.js';
import { Tabs } from './tabs.js';
import { timeText } from './timeline.js';
import { ContentTree } from './tree.js';

interface DetailProps {
  readonly client: FeedClient;
  readonly message: Message | undefined;
  readonly onFilter: (term: string) => void;
  readonly onAnswer: (draft: Draft) => void;
}

const VIEWS = ['Tree', 'Text', 'English', 'Tokens'] as const;
/** A text is shown in parts of this length, in UTF-16 code units. */
const PART = 20_000;

export function Detail({ client, message, onFilter, onAnswer }: DetailProps) {
  const [view, setView] = useState<(typeof VIEWS)[number]>('Tree');
  const content = useMemo(() => (message === undefined ? undefined : readSafely(message)), [message]);
  if (message === undefined || content === undefined)
    return <p class="empty">Select a message to see it as a tree, as text, in plain English and in tokens.</p>;
  const { record, type, error, ids } = message;
  const { side, session, t, length = record.text.length, isOwn } = record;
  const answers = client.hello?.allowSend === true ? answersTo(message, content) : [];
  return (
    <article class="detail">
      <h2>{type}</h2>
      <p class="about">
        {side !== 'log' && `From the ${side}`}
        {isOwn === true && ', sent by the inspector'} {timeText(t)} {length.toLocaleString('en')} characters
      </p>
      {error !== undefined && (
        <div class="error" role="alert">
          <strong>{error.code}</strong> {error.message}
          {error.frame !== undefined && <pre>{error.frame.slice(0, PART)}</pre>}
          {error.help !== undefined && <p>Help: {start(error.help)}</p>}
        </div>
      )}
      {content.language === 'aacp' && content.warnings.map((warning) => <p class="warning">{warning}</p>)}
      <dl class="ids">
        {session !== '' && (
          <Identifier name="connection" value={session} term={filterTerm('session', session)} onFilter={onFilter} />
        )}
        {Object.entries(ids).map(([name, value]) => (
          <Identifier key={name} name={name} value={value} term={filterTerm('id', value)} onFilter={onFilter} />
        ))}
      </dl>
      {answers.length > 0 && (
        <p class="actions">
          {answers.map(({ title, draft }) => (
            <button key={title} type="button" onClick={() => onAnswer(draft)}>
              {title}
            </button>
          ))}
        </p>
      )}
      <Tabs class="views" label="Views" names={VIEWS} selected={view} panel="view" onSelect={setView} />
      <div role="tabpanel" id="view" aria-labelledby="view-tab">
        {view === 'Tree' && 'value' in content && <Loss text={record.text} value={content.value} />}
        {view === 'Tree' && <ContentTree key={record.n} content={content} />}
        {view === 'Text' && (
          <>
            <LongText key={record.n} text={record.text} length={length} />
            <Canonical content={content} text={record.text} />
          </>
        )}
        {view === 'English' && <p class="english">{explain(message, content).slice(0, PART)}</p>}
        {view === 'Tokens' && <Tokens client={client} text={record.text} />}
      </div>
    </article>
  );
}

/** Says what the tree lacks. Computed here, since most messages of a timeline are never opened. */
function Loss({ text, value }: { readonly text: string; readonly value: unknown }) {
  const loss = useMemo(() => jsonLoss(text, value), [text, value]);
  return loss === null ? null : <p class="warning">{loss} The text has everything.</p>;
}

function readSafely({ record }: Message): Content {
  if (record.kind !== undefined) return { language: 'text' };
  try {
    return readContent(record.text);
  } catch {
    return { language: 'text' };
  }
}

interface IdentifierProps {
  readonly name: string;
  readonly value: string;
  readonly term: string;
  readonly onFilter: (term: string) => void;
}

function Identifier({ name, value, term, onFilter }: IdentifierProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <button type="button" class="link" title="Show the messages with this value" onClick={() => onFilter(term)}>
          {value}
        </button>
      </dd>
    </div>
  );
}

/** Shows the canonical text of a frame that is written in another way. */
function Canonical({ content, text }: { readonly content: Content; readonly text: string }) {
  if (content.language !== 'accp' || content.frame === undefined) return null;
  const canonical = canonicalOf(content.frame);
  if (canonical === undefined || canonical === text.trim()) return null;
  return (
    <>
      <h3>Canonical text</h3>
      <pre class="wire">{canonical.slice(0, PART)}</pre>
    </>
  );
}

function canonicalOf(frame: Frame): string | undefined {
  try {
    return printFrame(frame);
  } catch {
    // Such as a number that cannot be written.
    return undefined;
  }
}

function LongText({ text, length }: { readonly text: string; readonly length: number }) {
  const [shown, setShown] = useState(PART);
  return (
    <>
      <pre class="wire">{text.slice(0, shown)}</pre>
      {text.length > shown && (
        <button type="button" onClick={() => setShown(shown + 10 * PART)}>
          {(text.length - shown).toLocaleString('en')} more characters
        </button>
      )}
      {length > text.length && (
        <p class="warning">
          The feed contains the first {text.length} of {length} characters.
        </p>
      )}
      <button type="button" onClick={() => void navigator.clipboard?.writeText(text)}>
        Copy
      </button>
    </>
  );
}

function Tokens({ client, text }: { readonly client: FeedClient; readonly text: string }) {
  const [count, setCount] = useState<Awaited<ReturnType<FeedClient['tokens']>> | null>();
  useEffect(() => {
    let isCurrent = true;
    setCount(undefined);
    void client.tokens(text).then((found) => {
      if (isCurrent) setCount(found ?? null);
    });
    return () => {
      isCurrent = false;
    };
  }, [client, text]);
  if (count === undefined) return <p class="empty">Counting</p>;
  if (count === null) return <p class="empty">The server does not answer.</p>;
  const { tokens, encoding, exact } = count;
  const perToken = tokens === 0 ? 0 : text.length / tokens;
  return (
    <dl class="tokens">
      <div>
        <dt>tokens</dt>
        <dd>{tokens.toLocaleString('en')}</dd>
      </div>
      <div>
        <dt>encoding</dt>
        <dd>{exact ? `${encoding}, exact` : 'estimated; install gpt-tokenizer for exact counts'}</dd>
      </div>
      <div>
        <dt>characters per token</dt>
        <dd>{perToken.toFixed(2)}</dd>
      </div>
      <div>
        <dt>bytes</dt>
        <dd>{new TextEncoder().encode(text).length.toLocaleString('en')}</dd>
      </div>
    </dl>
  );
}
