/** Prints and counts received frames. */
import { isUpkeep, readHead } from '../../../accp/bindings/frames.js';
import { explainFrame, tryParseFrame } from '../../../accp/index.js';
import type { Loss, Message } from '../../../accp/message/message.js';
import type { PegwireError } from '../../../text/errors.js';
import { visible } from '../../../text/visible.js';
import { exactJson } from '../../io/exact-json.js';
import { errorJson } from '../../io/json.js';
import { labelled, type NoteKind } from '../../io/output.js';
import type { Invocation } from '../../options/command.js';
import { lossText } from '../../session/results.js';

const PROMPT = '> ';

type Receiving = Pick<Invocation, 'stdin' | 'words' | 'json' | 'output'> & {
  readonly options: { readonly all: boolean; readonly explain: boolean };
};

export class Received {
  readonly #invocation: Receiving;
  readonly #isInteractive: boolean;
  /** Serializes the output. */
  #shown: Promise<void> = Promise.resolve();
  /** Error frames, rejected frames and lines, and unanswered requests. */
  faults = 0;
  /** Received frames, whether printed or not. */
  frames = 0;

  constructor(invocation: Receiving) {
    this.#invocation = invocation;
    this.#isInteractive = invocation.stdin.isTTY === true && invocation.words.length < 2;
  }

  /** Prints a frame. @param isOfSession `true` if a session handles the frames that maintain it, such as registries and pings */
  frame(frame: string, message: Message | null, isOfSession: boolean): Promise<void> {
    const isFrame = readHead(frame) !== null;
    if (isFrame) this.frames++;
    const { options, json, output } = this.#invocation;
    if (isOfSession && message !== null && isUpkeep(message)) {
      if (!options.all) return this.#shown;
    } else if (message?.intent === 'fail' || message?.schema === 'ER') this.faults++;
    const explanation = options.explain ? explained(frame) : undefined;
    return this.#show(async () => {
      // Text that is not a frame may contain control characters.
      const shown = isFrame ? frame : visible(frame);
      await output.result(json ? exactJson({ frame, message, explanation }) : shown);
      if (!json && explanation !== undefined) await output.note(output.paintNote('dim', visible(explanation)));
    });
  }

  /** Reports a request without an answer. */
  unanswered(text: string): Promise<void> {
    this.faults++;
    return this.note('unanswered', text, 'error');
  }

  /** Reports a frame that the session rejects. E3002 and E3003, for repeated and early frames, are no failures: the session recovers. */
  rejected({ code, message }: PegwireError): Promise<void> {
    const isFailure = code !== 'E3002' && code !== 'E3003';
    if (isFailure) this.faults++;
    return this.note(code, `Rejected a frame: ${message}`, isFailure ? 'error' : 'warning');
  }

  /** Shows a frame that was sent. */
  sent(frame: string): Promise<void> {
    const { json, output } = this.#invocation;
    return json ? this.#shown : this.#show(() => output.note(output.paintNote('dim', `sent: ${frame}`)));
  }

  /** Writes a note to stderr. */
  note(code: string, text: string, kind: NoteKind = 'warning'): Promise<void> {
    const { json, output } = this.#invocation;
    return this.#show(() =>
      output.note(json ? errorJson(code, text) : labelled(kind, code, visible(text), output.paintNote)),
    );
  }

  /** Reports losses. */
  async lost(losses: readonly Loss[]): Promise<void> {
    for (const loss of losses) await this.note(loss.kind, lossText(loss));
  }

  /** Waits for pending output. */
  settled(): Promise<void> {
    return this.#shown;
  }

  /** Shows the prompt on a terminal. */
  prompt(): void {
    if (this.#isInteractive) this.#invocation.output.progress(PROMPT);
  }

  #show(write: () => Promise<void>): Promise<void> {
    this.#shown = this.#shown.then(async () => {
      if (this.#isInteractive) this.#invocation.output.progress('');
      await write();
      this.prompt();
    });
    return this.#shown;
  }
}

function explained(frame: string): string | undefined {
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  return parsed.ok ? explainFrame(parsed.value) : undefined;
}
