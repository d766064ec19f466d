/** Sends a message: by a form made from its schema, or as text. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Frame } from '../../accp/ast.js';
import { printFrame } from '../../accp/print.js';
import type { Activity } from './activity.js';
import { type Draft, envelopeText, type Form, randomId } from './answers.js';
import type { FeedClient } from './feed-client.js';
import { type Members, members, rowOf } from './message.js';
import { resolve, SchemaForm } from './schema-form.js';

interface ComposeProps {
  readonly client: FeedClient;
  readonly activity: Activity;
  readonly draft: Draft | undefined;
}

const INTENTS = ['req', 'qry', 'done', 'fail', 'sync', 'info', 'cancel', 'ping', 'pong'];
/** The messages that clients send most. */
const COMMON = ['tool.invoke', 'agent.delegate', 'workflow.start', 'cancel', 'ping'];

export function Compose({ client, activity, draft }: ComposeProps) {
  const { hello } = client;
  const open = [...activity.connections.values()].filter(({ isOpen, canSend }) => isOpen && canSend);
  const [chosen, setSession] = useState(draft?.session ?? '');
  // The connection that is shown first stays: a message must not go to another one.
  const session = chosen || (open.at(-1)?.session ?? '');
  const isOpen = open.some((one) => one.session === session);
  useEffect(() => setSession(session), [session]);
  const [side, setSide] = useState(draft?.side ?? 'client');
  const [chosenForm, setForm] = useState(draft?.form);
  const form: Form = chosenForm ?? (hello?.protocol === 'accp' || hello?.protocol === 'arcp' ? hello.protocol : 'raw');
  const [text, setText] = useState(draft?.text ?? '');
  /** The text that the form has made. */
  const [made, setMade] = useState('');
  const [sends, setSends] = useState(0);
  const [result, setResult] = useState<{ readonly isError: boolean; readonly text: string }>();

  useEffect(() => {
    if (draft === undefined) return;
    setSession(draft.session);
    setSide(draft.side);
    setForm(draft.form);
    if (draft.text !== undefined) setText(draft.text);
  }, [draft]);

  if (hello?.allowSend !== true)
    return <p class="empty">The inspector is read-only. Start it with --allow-send to send messages.</p>;
  if (session === '') return <p class="empty">There is no open connection on which messages can be sent.</p>;

  const send = async (): Promise<void> => {
    // A message ends with its line on many transports.
    const sent = await client.send(session, side, text.trim().replace(/\s*\n\s*/g, ' '));
    // The next message has another id.
    if (sent.ok) setSends(sends + 1);
    setResult({ isError: !sent.ok, text: sent.ok ? 'Sent. The answers are in the timeline.' : sent.message });
  };
  const onText = (next: string): void => {
    setText(next);
    setMade(next);
  };
  const forms = { session, activity, draft, sends, onText };
  return (
    <form
      class="compose"
      // A text that was changed by hand is sent as it is.
      noValidate={text !== made}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <h2>Send a message</h2>
      <label>
        Connection
        <select value={session} onChange={(event) => setSession(event.currentTarget.value)}>
          {open.map((one) => (
            <option key={one.session} value={one.session}>
              {one.session} ({one.about})
            </option>
          ))}
          {!isOpen && <option value={session}>{session} (closed)</option>}
        </select>
      </label>
      <label>
        As
        <select value={side} onChange={(event) => setSide(event.currentTarget.value as 'client' | 'server')}>
          <option value="client">the client</option>
          <option value="server">the server</option>
        </select>
      </label>
      <label>
        Form
        <select value={form} onChange={(event) => setForm(event.currentTarget.value as Form)}>
          <option value="arcp">ARCP message</option>
          <option value="accp">ACCP frame</option>
          <option value="raw">text</option>
        </select>
      </label>
      {form === 'arcp' && <EnvelopeForm {...forms} client={client} />}
      {form === 'accp' && <FrameForm {...forms} />}
      <label>
        Text to send
        <textarea rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Check text={text} />
      <button type="submit" class="primary" disabled={text.trim() === '' || !isOpen}>
        Send
      </button>
      {!isOpen && (
        <p class="error" role="status">
          The connection {session} has ended. Choose another one.
        </p>
      )}
      {result !== undefined && (
        <p class={result.isError ? 'error' : 'success'} role="status">
          {result.text}
        </p>
      )}
    </form>
  );
}

/** Shows how the page reads the text, after a pause in the typing. */
function Check({ text }: { readonly text: string }) {
  const [checked, setChecked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setChecked(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  const message = useMemo(() => rowOf({ n: 0, t: 0, side: 'client', session: '', text: checked }), [checked]);
  if (checked.trim() === '') return null;
  const { language, type, error } = message;
  return (
    <p class={error === undefined ? 'about' : 'error'} aria-live="polite">
      {error === undefined ? `${language}: ${type}` : `${error.code}: ${error.message}`}
    </p>
  );
}

interface FormProps {
  readonly session: string;
  readonly activity: Activity;
  readonly draft: Draft | undefined;
  /** The number of messages that were sent. */
  readonly sends: number;
  readonly onText: (text: string) => void;
}

function EnvelopeForm({
  client,
  session,
  activity,
  draft,
  sends,
  onText,
}: FormProps & { readonly client: FeedClient }) {
  const [schemas, setSchemas] = useState<Members>({});
  const [type, setType] = useState(draft?.type ?? COMMON[0]!);
  const [payload, setPayload] = useState<Members>({});
  useEffect(() => void client.schemas().then(setSchemas), [client]);
  useEffect(() => {
    if (draft?.type === undefined) return;
    setType(draft.type);
    setPayload({});
  }, [draft]);
  const ids = { session_id: activity.sessions.get(session), ...(draft?.type === type ? draft.ids : {}) };
  useEffect(() => onText(envelopeText(type, payload, ids)), [type, payload, session, sends]);

  const root = members(schemas[type]);
  const payloadSchema = members(members(resolve(root, root)['properties'])['payload']);
  const tool = type === 'tool.invoke' ? String(payload['tool'] ?? '') : '';
  const inputSchema = activity.tools.get(tool);
  const types = [...new Set([...COMMON, ...Object.keys(schemas)])];
  return (
    <>
      <label>
        Type
        <select
          value={type}
          onChange={(event) => {
            setType(event.currentTarget.value);
            setPayload({});
          }}
        >
          {types.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      {type === 'tool.invoke' && activity.tools.size > 0 && (
        <label>
          Tool
          <select
            value={tool}
            onChange={(event) => setPayload({ ...payload, tool: event.currentTarget.value, arguments: {} })}
          >
            <option value="">(choose)</option>
            {[...activity.tools.keys()].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {inputSchema !== undefined && (
        <SchemaForm
          key={tool}
          legend="Arguments"
          schema={inputSchema}
          value={members(payload['arguments'])}
          onChange={(next) => setPayload({ ...payload, arguments: next })}
        />
      )}
      <SchemaForm
        key={type}
        legend="Payload"
        schema={payloadSchema}
        root={root}
        value={payload}
        onChange={setPayload}
        isFolded={inputSchema !== undefined}
      />
    </>
  );
}

function FrameForm({ session, activity, draft, sends, onText }: FormProps) {
  const given = draft?.frame;
  const [agent, setAgent] = useState(given?.agent ?? 'inspector');
  const [intent, setIntent] = useState<string>(given?.intent ?? 'req');
  const [operation, setOperation] = useState(given?.operation ?? 'echo');
  const [payload, setPayload] = useState(() => (given === undefined ? 'text:hello' : payloadText(given)));
  // Each frame over HTTP without a session opens one.
  const isKnown = session !== 'http' && activity.sequences.has(session);
  useEffect(() => {
    const metadata = [`mid:${randomId()}`, `seq:${isKnown ? activity.sequences.get(session)! + 1 : 1}`];
    if (isKnown) metadata.push(`sid:${session}`);
    onText(`@${agent}>${intent}:${operation}{${payload}}[${metadata.join(',')}]`);
  }, [agent, intent, operation, payload, session, sends]);
  return (
    <fieldset>
      <legend>Frame</legend>
      <label>
        Agent
        <input value={agent} onInput={(event) => setAgent(event.currentTarget.value)} />
      </label>
      <label>
        Intent
        <select value={intent} onChange={(event) => setIntent(event.currentTarget.value)}>
          {[...new Set([...INTENTS, intent])].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label>
        Operation
        <input value={operation} onInput={(event) => setOperation(event.currentTarget.value)} />
      </label>
      <label>
        Payload, as key:value|key:value
        <input value={payload} spellcheck={false} onInput={(event) => setPayload(event.currentTarget.value)} />
      </label>
    </fieldset>
  );
}

function payloadText(frame: Frame): string {
  return printFrame({ ...frame, metadata: null }).replace(/^[^{]*\{(.*)\}$/s, '$1');
}
