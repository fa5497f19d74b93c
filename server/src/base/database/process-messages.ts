import { Client } from "pg";
import { raceSignal } from "../abort.ts";
import { pause, sleep, undefinedAfter } from "../clock.ts";
import { LateListener } from "../listener/index.ts";
import type { Log } from "../log.ts";
import type { Database } from "./connect.ts";
import { failureKind } from "./failures.ts";

/**
 * A message to the other processes on the same database. They also poll the database, so a message
 * only makes them react sooner: a lost message delays work but loses nothing. The exception is
 * `limits`. A process that misses it does not check the new limit before the first calls of new
 * runs and before repeats of failed model calls, until it detects that messages were lost.
 */
export type ProcessMessage =
  /** There may be queued runs that the receiver can claim. */
  | { readonly kind: "queued" }
  /** Cancellation of the run was requested. */
  | { readonly kind: "cancel"; readonly runId: string }
  /**
   * The sender has subscribers to the run. A receiver that executes the run sends `journal` at
   * once, and then whenever it has added entries.
   */
  | { readonly kind: "runSubscribers"; readonly runId: string }
  /** Entries were added to the run's journal. */
  | { readonly kind: "journal"; readonly runId: string }
  /**
   * The sender has subscribers to the events of workspaces. For the next 30 seconds the receiver
   * sends `events` whenever it has written events.
   */
  | { readonly kind: "eventSubscribers" }
  /** The sender has written events of runs or of workspaces. */
  | { readonly kind: "events" }
  /**
   * A ceiling or a plan was changed, so the workspace may have a new limit, or one that allows more
   * or less than before. Runs make a new reservation before they call a model again, runs that wait
   * for a reservation try again, and held runs can be queued.
   */
  | { readonly kind: "limits"; readonly workspaceId: string }
  /**
   * A reservation in the workspace was reduced or returned. Runs that wait for a reservation try
   * again, and held runs can be queued.
   */
  | { readonly kind: "returned"; readonly workspaceId: string }
  /** A subscription was changed, or deliveries are due again. */
  | { readonly kind: "deliveries" };

/**
 * Messages between processes, sent with LISTEN and NOTIFY. A transaction that writes rows never
 * contains a NOTIFY: PostgreSQL takes a cluster-wide lock when a transaction with NOTIFY commits,
 * which would serialize the batched writes. A message is sent after the commit that it announces.
 * One notification can contain several messages.
 */
export interface ProcessMessages {
  /**
   * Sends a message to the other processes within a few milliseconds, or as soon as the database is
   * available again. Does nothing while `alone`.
   */
  send(message: ProcessMessage): void;
  /**
   * Registers the one listener that is called with each message of another process. It is called
   * with `undefined` if messages of any kind may have been lost, or if a message has an unknown
   * kind.
   */
  onMessage(listener: (message: ProcessMessage | undefined) => void): void;
  /**
   * Registers the one listener that is called when the lost LISTEN connection is open again, but
   * leads to another PostgreSQL cluster than before, for example after an upgrade by logical
   * replication. It is not called if the role is not allowed to read the system identifier.
   */
  onOtherCluster(listener: () => void): void;
  /** True while this process knows of no other one. A message of another one sets it to false. */
  readonly alone: boolean;
  /** Sets `alone`. `keepLease` calls this at each lease renewal. */
  setAlone(alone: boolean): void;
  close(): Promise<void>;
}

const channel = "beckon";
/** Maximum bytes of one notification; PostgreSQL's limit is 8,000. */
const maxBytes = 7_000;
/** Minimum time between two notifications of this process. */
const batchDelayMs = 5;
/** Time before messages are sent again after a notification failed. */
const retryMs = 500;
/**
 * Maximum number of messages that wait to be sent again. If there are more, one message `lost`
 * replaces them. It makes the receivers assume that messages of any kind were lost.
 */
const maxUnsent = 1_000;
/** Maximum time to close a connection. Closing can hang if the network is down. */
const closeTimeoutMs = 500;
/** Time between two checks of the connection, which can break without an error. */
const checkIntervalMs = 10_000;

/**
 * The letter of each kind of message. A notification is `<sender> <message> <message> …`, where
 * `sender` is random text that identifies the process, and a message is the letter of its kind,
 * followed by the id that the message is about, if there is one. The letters must not be changed:
 * during an upgrade, processes of two versions exchange messages.
 */
const letters = {
  queued: "q",
  cancel: "c",
  runSubscribers: "w",
  journal: "j",
  eventSubscribers: "f",
  events: "e",
  limits: "l",
  returned: "r",
  deliveries: "d",
  /**
   * Messages of any kind were lost. `ProcessMessage` has no such kind: `read` returns undefined,
   * and the listener for messages is called with undefined.
   */
  lost: "?",
} as const;

/**
 * Starts listening for messages of other processes. While the connection is lost, no message
 * arrives, and polling finds what the messages would have announced.
 */
export function openProcessMessages(database: Database, log: Log): ProcessMessages {
  const sender = Math.random().toString(36).slice(2);
  const closing = new AbortController();
  const pending = new Set<string>();
  let sending: Promise<void> | undefined;
  let listening: Client | undefined;
  /** The system identifier of the cluster that the LISTEN connection last led to. */
  let cluster: string | undefined;
  let alone = true;
  const received = new LateListener<[ProcessMessage | undefined]>();
  const otherCluster = new LateListener();

  async function send(): Promise<void> {
    try {
      while (pending.size > 0 && !closing.signal.aborted) {
        await sleep(batchDelayMs, closing.signal);
        await sendBatch();
      }
    } catch {
      // Only `sleep` rejects, after `close`. Other processes find the work by polling.
    } finally {
      // Nothing is awaited between the last check of `pending` and this line. Otherwise a message
      // added in between would not be sent until the next message.
      sending = undefined;
    }
  }

  async function sendBatch(): Promise<void> {
    let text = sender;
    const batch: string[] = [];
    for (const message of pending) {
      if (text.length + message.length + 1 > maxBytes) break;
      text += ` ${message}`;
      batch.push(message);
      // Deleted before the query. If the same message is added during the query, it announces later
      // work and must be sent again.
      pending.delete(message);
    }
    try {
      await database.engine.query("select pg_notify($1, $2)", [channel, text]);
    } catch {
      for (const message of batch) pending.add(message);
      if (pending.size > maxUnsent) {
        pending.clear();
        pending.add(letters.lost);
      }
      await sleep(retryMs, closing.signal);
    }
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      let client: Client | undefined;
      try {
        // Throws if a certificate file that DATABASE_URL names cannot be read at the moment.
        client = new Client(database.settings);
        listening = client;
        const gone = new AbortController();
        client.on("error", () => gone.abort());
        client.on("end", () => gone.abort());
        client.on("notification", ({ payload = "" }) => {
          const [from, ...messages] = payload.split(" ");
          if (from === sender) return;
          alone = false;
          for (const message of messages) received.call(read(message));
        });
        // If a client is closed while it connects, its `connect` neither resolves nor rejects, so
        // the wait also ends when `close` aborts `closing`.
        await raceSignal(client.connect(), closing.signal);
        const current = await readSystemIdentifier(client);
        if (cluster !== undefined && current !== undefined && current !== cluster)
          otherCluster.call();
        cluster = current ?? cluster;
        await client.query(`listen ${channel}`);
        received.call(undefined);
        while (!gone.signal.aborted) {
          await pause(checkIntervalMs, gone.signal);
          if (!gone.signal.aborted) await client.query("select");
        }
        if (!closing.signal.aborted)
          log.write(
            "the LISTEN connection was lost; until it is restored, other processes' work is found by polling",
            {},
          );
      } catch (thrown) {
        // The database is unavailable. Polling finds what other processes have announced in the
        // meantime.
        if (!closing.signal.aborted) log.outages.database.failed(thrown);
      }
      if (client !== undefined) await end(client);
      await pause(500, closing.signal);
    }
  }

  const listened = listen();
  return {
    get alone() {
      return alone;
    },
    setAlone(value) {
      alone = value;
    },
    onMessage: received.register,
    onOtherCluster: otherCluster.register,
    send(message) {
      if (alone || closing.signal.aborted) return;
      pending.add(letters[message.kind] + subjectOf(message));
      sending ??= send();
    },
    async close() {
      closing.abort();
      if (listening !== undefined) await end(listening);
      await listened;
      await sending;
    },
  };
}

/** Returns the identifier of the cluster; undefined if the role is not allowed to read it. */
async function readSystemIdentifier(client: Client): Promise<string | undefined> {
  try {
    const { rows } = await client.query<{ id: string }>(
      "select system_identifier::text as id from pg_control_system()",
    );
    return rows[0]?.id;
  } catch (thrown) {
    if (failureKind(thrown) === "lost") throw thrown;
    return undefined;
  }
}

async function end(client: Client): Promise<void> {
  await undefinedAfter(
    client.end().catch(() => {}),
    closeTimeoutMs,
  );
}

/** Returns the id that the message is about; an empty string if there is none. */
function subjectOf(message: ProcessMessage): string {
  if ("runId" in message) return message.runId;
  return "workspaceId" in message ? message.workspaceId : "";
}

function read(text: string): ProcessMessage | undefined {
  const runId = text.slice(1);
  switch (text[0]) {
    case letters.queued:
      return { kind: "queued" };
    case letters.cancel:
      return { kind: "cancel", runId };
    case letters.runSubscribers:
      return { kind: "runSubscribers", runId };
    case letters.journal:
      return { kind: "journal", runId };
    case letters.eventSubscribers:
      return { kind: "eventSubscribers" };
    case letters.events:
      return { kind: "events" };
    case letters.limits:
      return { kind: "limits", workspaceId: text.slice(1) };
    case letters.returned:
      return { kind: "returned", workspaceId: text.slice(1) };
    case letters.deliveries:
      return { kind: "deliveries" };
    default:
      return undefined;
  }
}
