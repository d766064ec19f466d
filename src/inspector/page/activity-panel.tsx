/** The panels of the activity and of the permission requests. */
import { useState } from 'preact/hooks';
import { type Activity, MAX_NODES, type PermissionRequest } from './activity.js';
import { decisionText } from './answers.js';
import type { FeedClient } from './feed-client.js';
import { filterTerm } from './filter.js';
import type { Message } from './message.js';

interface ActivityPanelProps {
  readonly activity: Activity;
  readonly onFilter: (term: string) => void;
}

export function ActivityPanel({ activity, onFilter }: ActivityPanelProps) {
  const nodes = activity.nodes();
  const connections = [...activity.connections.values()];
  const open = connections.filter(({ isOpen }) => isOpen);
  return (
    <div class="activity">
      {connections.length > 0 && (
        <>
          <h3>
            Connections <span class="about">{open.length} open</span>
          </h3>
          <ul class="nodes">
            {[...open, ...connections.filter(({ isOpen }) => !isOpen).slice(-5)]
              .slice(0, 50)
              .map(({ session, about, isOpen }) => (
                <li key={session}>
                  <button type="button" class="node" onClick={() => onFilter(filterTerm('session', session))}>
                    <span class={`dot ${isOpen ? 'open' : 'ended'}`} />
                    <span class="name">{session}</span> <span class="note">{isOpen ? about : 'closed'}</span>
                  </button>
                </li>
              ))}
          </ul>
        </>
      )}
      <h3>Sessions, jobs and calls</h3>
      {nodes.length === 0 && <p class="empty">Nothing has happened yet.</p>}
      <ul class="nodes">
        {nodes.map(({ id, kind, name, state, durationMs, messages, note, depth }, index) => (
          <li key={index} style={{ paddingLeft: `${Math.min(depth, 12) * 16}px` }}>
            <button
              type="button"
              class="node"
              onClick={() => onFilter(kind === 'session' ? filterTerm('session', id) : filterTerm('id', id))}
            >
              <span class="line">
                <span class={`dot ${state}`} />
                <span class="kind">{kind}</span> <span class="name">{name}</span> <span class="state">{state}</span>
              </span>
              <span class="note">
                {durationText(durationMs)} {messages > 0 && `${messages} ${messages === 1 ? 'message' : 'messages'}`}{' '}
                {note}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {nodes.length >= MAX_NODES && <p class="warning">Only the first {MAX_NODES} are shown.</p>}
    </div>
  );
}

function durationText(ms: number): string {
  if (!(ms > 0)) return '';
  return ms < 1000
    ? `${Math.round(ms)} ms`
    : ms < 60_000
      ? `${(ms / 1000).toFixed(1)} s`
      : `${Math.round(ms / 60_000)} min`;
}

interface PermissionsPanelProps {
  readonly client: FeedClient;
  readonly permissions: readonly PermissionRequest[];
  readonly onOpen: (message: Message) => void;
}

const MAX_SHOWN = 200;

export function PermissionsPanel({ client, permissions, onOpen }: PermissionsPanelProps) {
  const canSend = client.hello?.allowSend === true;
  return (
    <div class="permissions">
      <h2>Permission requests</h2>
      {!canSend && <p class="about">The inspector is read-only. Start it with --allow-send to grant and deny.</p>}
      {permissions.length === 0 && <p class="empty">No permission was requested.</p>}
      {permissions.slice(0, MAX_SHOWN).map((request) => (
        <PermissionCard
          key={request.message.ids['id']}
          client={client}
          request={request}
          canSend={canSend}
          onOpen={onOpen}
        />
      ))}
    </div>
  );
}

interface CardProps {
  readonly client: FeedClient;
  readonly request: PermissionRequest;
  readonly canSend: boolean;
  readonly onOpen: (message: Message) => void;
}

function PermissionCard({ client, request, canSend, onOpen }: CardProps) {
  const { message, permission, resource, operation, reason, state } = request;
  const [seconds, setSeconds] = useState(60);
  const [failure, setFailure] = useState('');
  const answer = async (decision: 'grant' | 'deny'): Promise<void> => {
    const payload = decision === 'grant' ? { lease_seconds: seconds } : { reason: 'Denied in the inspector' };
    const sent = await client.send(message.record.session, 'client', decisionText(message, decision, payload));
    setFailure(sent.ok ? '' : sent.message);
  };
  return (
    <article class={`card ${state}`}>
      <h3>
        {permission} <span class="state">{state}</span>
      </h3>
      <p>
        {resource} {operation !== '' && `(${operation})`} {reason}
      </p>
      <p class="actions">
        {state === 'pending' && (
          <>
            <label>
              Seconds{' '}
              <input
                type="number"
                min={1}
                value={seconds}
                onInput={(event) => setSeconds(event.currentTarget.valueAsNumber || 60)}
              />
            </label>
            <button type="button" class="primary" disabled={!canSend} onClick={() => void answer('grant')}>
              Grant
            </button>
            <button type="button" disabled={!canSend} onClick={() => void answer('deny')}>
              Deny
            </button>
          </>
        )}
        <button type="button" onClick={() => onOpen(message)}>
          Open the message
        </button>
      </p>
      {failure !== '' && (
        <p class="error" role="alert">
          {failure}
        </p>
      )}
    </article>
  );
}
