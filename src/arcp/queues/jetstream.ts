/** The part of `@nats-io/jetstream` that the inbox uses. */
import { loadPackage } from '../../channels/node/load-package.js';
import { connectNats, type NatsConnectionLike, type NatsOptions } from '../../channels/node/nats.js';

/** A delivered message. */
export interface JsMessage {
  readonly seq: number;
  readonly data: Uint8Array;
  readonly info: { readonly deliveryCount: number };
  /** Acknowledges, and resolves when the server has the acknowledgement. */
  ackAck(): Promise<boolean>;
  nak(delayMs?: number): void;
}

/** Delivered messages, until `close`. */
export interface JsMessages extends AsyncIterable<JsMessage> {
  close(): Promise<unknown>;
}

/** The configuration of a stream, as far as the inbox needs it. */
export interface StreamConfig extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly subjects?: readonly string[];
  readonly retention: string;
}

/** The administration of streams and consumers. */
export interface JsManager {
  readonly streams: {
    /** Rejects if the stream does not exist. */
    info(name: string): Promise<{ readonly config: StreamConfig }>;
    add(config: StreamConfig): Promise<unknown>;
  };
  readonly consumers: { add(stream: string, config: Readonly<Record<string, unknown>>): Promise<unknown> };
}

interface JsClient {
  publish(subject: string, payload: Uint8Array | string, options: { readonly msgID: string }): Promise<unknown>;
  readonly consumers: {
    get(
      stream: string,
      name: string,
    ): Promise<{ consume(options: { readonly max_messages: number }): Promise<JsMessages> }>;
  };
}

interface JetStreamPackage {
  jetstream(connection: NatsConnectionLike): JsClient;
  jetstreamManager(connection: NatsConnectionLike): Promise<JsManager>;
}

/** A connection with JetStream. */
export interface JetStream {
  readonly connection: NatsConnectionLike;
  readonly client: JsClient;
  readonly manager: JsManager;
  /** Closes the connection, if it is its own. */
  readonly close: () => Promise<void>;
}

/** Connects to NATS with JetStream. @throws ConnectionError `no-package` or `closed` */
export async function openJetStream({ servers, connectOptions, connection: given }: NatsOptions): Promise<JetStream> {
  const { jetstream, jetstreamManager } = await loadPackage<JetStreamPackage>('@nats-io/jetstream');
  const connection = given ?? (await connectNats(servers, connectOptions));
  const close = async (): Promise<void> => {
    if (given === undefined) await connection.close();
  };
  try {
    return { connection, client: jetstream(connection), manager: await jetstreamManager(connection), close };
  } catch (error) {
    await close();
    throw error;
  }
}
