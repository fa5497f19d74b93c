import { Client } from "pg";
import { raceSignal } from "../abort.ts";
import { sleep } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Database } from "./connect.ts";

/** What processes on one database tell each other, so that nobody has to wait for the next look. Losing one costs time, never truth. */
export type ProcessMessage =
  /** Something was queued that the sender has no room for. */
  | { readonly kind: "queued" }
  /** Somebody has asked to cancel the run. */
  | { readonly kind: "cancel"; readonly runId: string }
  /** Somebody outside the executing process waits for the run. */
  | { readonly kind: "watch"; readonly runId: string }
  /** The run's journal has grown. */
  | { readonly kind: "journal"; readonly runId: string }
  /** The sender follows the events of all runs, and is to be told for a while when there are more. */
  | { readonly kind: "follow" }
  /** There are more events, of whichever run. */
  | { readonly kind: "events" };

/**
 * LISTEN and NOTIFY, beside every transaction and never inside one: PostgreSQL takes a lock over the whole cluster when a transaction that has
 * notified commits, which would undo gathered writes. Messages of one moment go in one notification, after what they speak of was committed.
 */
export interface ProcessMessages {
  /** Tells the other processes, soon. Does nothing while this process is alone. */
  send(message: ProcessMessage): void;
  /** Set to what happens with the messages of others; `undefined`: some may have been lost, look at everything. */
  onMessage: (message: ProcessMessage | undefined) => void;
  /** Whether no other process is known to live; hearing of one ends it. */
  alone: boolean;
  close(): Promise<void>;
}

const channel = "beckon";
/** Bytes of one notification; PostgreSQL takes less than 8,000. */
const maxBytes = 7_000;
/** Milliseconds between two notifications of a busy process. */
const pause = 5;
/** Milliseconds for a connection to end in order: one to a network in trouble never does. */
const goodbye = 500;
/** Milliseconds between questions to the database whether it still hears us: a connection may die without a word. */
const checkEvery = 10_000;

const letters = {
  queued: "q",
  cancel: "c",
  watch: "w",
  journal: "j",
  follow: "f",
  events: "e",
} as const;

/**
 * Opens the messages between processes. They save waiting and carry nothing that polling would not
 * find.
 */
export function openProcessMessages(database: Database, log: Log): ProcessMessages {
  const sender = Math.random().toString(36).slice(2);
  const closing = new AbortController();
  const pending = new Set<string>();
  let sending: Promise<void> | undefined;
  let listening: Client | undefined;

  async function send(): Promise<void> {
    while (pending.size > 0 && !closing.signal.aborted) {
      await sleep(pause, closing.signal);
      let text = sender;
      for (const message of pending) {
        if (text.length + message.length + 1 > maxBytes) break;
        text += ` ${message}`;
        pending.delete(message);
      }
      await database.engine.query("select pg_notify($1, $2)", [channel, text]);
    }
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      const client = new Client(database.settings);
      listening = client;
      try {
        const gone = new AbortController();
        client.on("error", () => gone.abort());
        client.on("end", () => gone.abort());
        client.on("notification", ({ payload = "" }) => {
          const [from, ...messages] = payload.split(" ");
          if (from === sender) return;
          processMessages.alone = false;
          for (const message of messages) processMessages.onMessage(read(message));
        });
        // A client that is ended while it connects never settles its `connect`.
        await raceSignal(client.connect(), closing.signal);
        await client.query(`listen ${channel}`);
        processMessages.onMessage(undefined);
        while (!gone.signal.aborted) {
          await sleep(checkEvery, gone.signal).catch(() => {});
          if (!gone.signal.aborted) await client.query("select");
        }
        if (!closing.signal.aborted)
          log.warn(
            "the connection for wake-ups was lost; until it is back, other processes' work is found by looking",
          );
      } catch {
        // The database is away. What others tell in the meantime is found by looking.
      }
      await end(client);
      await sleep(500, closing.signal).catch(() => {});
    }
  }

  const processMessages: ProcessMessages = {
    alone: true,
    onMessage: () => {},
    send(message) {
      if (processMessages.alone || closing.signal.aborted) return;
      pending.add(letters[message.kind] + ("runId" in message ? message.runId : ""));
      sending ??= send()
        .catch(() => pending.clear())
        .finally(() => {
          sending = undefined;
        });
    },
    async close() {
      closing.abort();
      if (listening !== undefined) await end(listening);
      await listened;
      await sending;
    },
  };
  const listened = listen();
  return processMessages;
}

async function end(client: Client): Promise<void> {
  await Promise.race([client.end().catch(() => {}), sleep(goodbye)]);
}

function read(text: string): ProcessMessage | undefined {
  const runId = text.slice(1);
  switch (text[0]) {
    case letters.queued:
      return { kind: "queued" };
    case letters.cancel:
      return { kind: "cancel", runId };
    case letters.watch:
      return { kind: "watch", runId };
    case letters.journal:
      return { kind: "journal", runId };
    case letters.follow:
      return { kind: "follow" };
    case letters.events:
      return { kind: "events" };
    default:
      return undefined;
  }
}
