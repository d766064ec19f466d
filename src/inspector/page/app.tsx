/** The layout: the header, the timeline, and panels beside it. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ActivityPanel, PermissionsPanel } from './activity-panel.js';
import type { Draft } from './answers.js';
import { Compose } from './compose.js';
import { Detail } from './detail.js';
import type { FeedClient, Status } from './feed-client.js';
import { isError, parseFilter } from './filter.js';
import { useFeed, useWidth } from './hooks.js';
import type { Message } from './message.js';
import { Replay } from './replay.js';
import { Tabs } from './tabs.js';
import { Timeline } from './timeline.js';

type Tab = 'messages' | 'message' | 'activity' | 'permissions' | 'send';

const TITLES: Readonly<Record<Tab, string>> = {
  messages: 'Messages',
  message: 'Message',
  activity: 'Activity',
  permissions: 'Permissions',
  send: 'Send',
};
const STATUS: Readonly<Record<Status, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Server lost; trying again',
  refused: 'Token required',
};

export function App({ client }: { readonly client: FeedClient }) {
  useFeed(client);
  const width = useWidth();
  const [query, setQuery] = useState('');
  const [onlyErrors, setOnlyErrors] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [isReplaying, setReplaying] = useState(false);
  const [chosen, setTab] = useState<Tab>('messages');
  const [selected, setSelected] = useState<Message>();
  const [draft, setDraft] = useState<Draft>();
  const shown = useShown(client, query, onlyErrors);
  const activity = client.collect();
  const permissions = activity.permissions();
  const pending = permissions.filter(({ state }) => state === 'pending').length;
  const { hello, status } = client;

  useEffect(() => {
    document.title = hello === undefined ? 'pegwire inspector' : `${hello.source} - pegwire inspector`;
  }, [hello]);

  const select = useCallback((message: Message) => {
    setSelected(message);
    setFollowing(false);
    setTab('message');
  }, []);
  const filterBy = useCallback((term: string) => {
    setQuery(term);
    setTab('messages');
  }, []);
  const answer = useCallback((next: Draft) => {
    setDraft(next);
    setTab('send');
  }, []);

  if (status === 'refused') return <TokenForm client={client} />;

  const side: readonly Tab[] =
    width === 'wide' ? ['message', 'permissions', 'send'] : ['message', 'activity', 'permissions', 'send'];
  const tabs: readonly Tab[] = width === 'narrow' ? ['messages', ...side] : side;
  const tab = tabs.includes(chosen) ? chosen : tabs[0]!;
  const tabList = (
    <Tabs
      class="tabs"
      label="Panels"
      names={tabs}
      selected={tab}
      panel="panel"
      onSelect={setTab}
      titleOf={(one) => (
        <>
          {TITLES[one]}
          {one === 'permissions' && pending > 0 && <span class="count">{pending}</span>}
        </>
      )}
    />
  );
  const activityPanel = <ActivityPanel activity={activity} onFilter={filterBy} />;
  const panels: Readonly<Partial<Record<Tab, () => ComponentChildren>>> = {
    message: () => <Detail client={client} message={selected} onFilter={filterBy} onAnswer={answer} />,
    activity: () => activityPanel,
    permissions: () => <PermissionsPanel client={client} permissions={permissions} onOpen={select} />,
  };
  const timeline = (
    <section
      class="messages"
      id={tab === 'messages' ? 'panel' : undefined}
      aria-label="Messages"
      hidden={width === 'narrow' && tab !== 'messages'}
    >
      <div class="filters">
        <input
          type="search"
          aria-label="Filter the messages"
          placeholder="Filter: words, type:job.*, session:c1, -ping"
          value={query}
          spellcheck={false}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={onlyErrors} onChange={() => setOnlyErrors(!onlyErrors)} /> Errors
        </label>
        <label>
          <input type="checkbox" checked={isFollowing} onChange={() => setFollowing(!isFollowing)} /> Follow
        </label>
        <button type="button" aria-pressed={isReplaying} onClick={() => setReplaying(!isReplaying)}>
          Replay
        </button>
        <button type="button" onClick={() => save(client)}>
          Save
        </button>
        <button type="button" onClick={() => client.clear()}>
          Clear
        </button>
      </div>
      {isReplaying && <Replay client={client} />}
      <Timeline
        rows={shown}
        selected={selected}
        isTall={width === 'narrow'}
        isFollowing={isFollowing && !isReplaying}
        onScrollUp={() => setFollowing(false)}
        onSelect={select}
      />
      <p class="status" role="status">
        {shown.length.toLocaleString('en')} of {client.shown.toLocaleString('en')} messages
        {hello !== undefined && hello.dropped > 0 && `; ${hello.dropped.toLocaleString('en')} older ones were removed`}
      </p>
    </section>
  );

  return (
    <div class={`page ${width}`}>
      <header>
        <h1>pegwire inspector</h1>
        <code class="source">{hello?.source ?? ''}</code>
        <span class={`pill ${status}`}>{STATUS[status]}</span>
        {hello !== undefined && !hello.allowSend && <span class="pill">Read-only</span>}
      </header>
      <main>
        {width === 'wide' && (
          <section class="left" aria-label="Activity">
            <h2>Activity</h2>
            {activityPanel}
          </section>
        )}
        {timeline}
        <section class="side" aria-label={TITLES[tab]} hidden={tab === 'messages'}>
          {width !== 'narrow' && tabList}
          {tab in panels && (
            <div class="panel" role="tabpanel" id="panel" aria-labelledby="panel-tab">
              {panels[tab]?.()}
            </div>
          )}
          {/* Stays, with what was entered, while other panels are shown. */}
          <div
            class="panel"
            role="tabpanel"
            id={tab === 'send' ? 'panel' : undefined}
            aria-labelledby={tab === 'send' ? 'panel-tab' : undefined}
            hidden={tab !== 'send'}
          >
            <Compose client={client} activity={activity} draft={draft} />
          </div>
        </section>
      </main>
      {width === 'narrow' && tabList}
    </div>
  );
}

/** Returns the messages that match the filter. New ones are tested once. */
function useShown(client: FeedClient, query: string, onlyErrors: boolean): readonly Message[] {
  const filter = useMemo(() => {
    const matches = parseFilter(query);
    return onlyErrors ? (message: Message) => isError(message) && matches(message) : matches;
  }, [query, onlyErrors]);
  const cache = useRef<{ filter: typeof filter; removed: number; tested: number; found: Message[] }>(undefined);
  const { removed, shown } = client;
  const known = cache.current;
  const isValid = known?.filter === filter && known.removed === removed && known.tested <= shown;
  const state = isValid ? known : { filter, removed, tested: 0, found: [] };
  // A new array tells the list that there is something to draw.
  if (state.tested < shown) state.found = state.found.concat(client.messages.slice(state.tested, shown).filter(filter));
  state.tested = shown;
  cache.current = state;
  return state.found;
}

/** Saves the messages as a log, which `pegwire inspect` opens. */
function save({ messages }: FeedClient): void {
  const lines = messages.map(({ record: { n: _, ...record } }) => `${JSON.stringify(record)}\n`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  link.download = 'messages.jsonl';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function TokenForm({ client }: { readonly client: FeedClient }) {
  const [token, setToken] = useState('');
  return (
    <main class="home">
      <h1>pegwire inspector</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          client.retryWith(token.trim());
        }}
      >
        <label>
          Token, which the program prints with its address
          <input value={token} autocomplete="off" onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <button type="submit">Open</button>
      </form>
    </main>
  );
}
