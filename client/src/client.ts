import { fire } from "./fire.ts";
import { bindOperations } from "./generated/operations.ts";
import type { InvokeAgentBody } from "./generated/schemas.ts";
import { type InvokeOptions, invoke, type StartOptions, start } from "./invoke.ts";
import { type ClientOptions, type LabelOptions, type OnceOptions, settingsOf } from "./options.ts";
import { createSender } from "./sender.ts";
import { type StartAndWatchOptions, startAndWatch } from "./start-and-watch.ts";
import { type WatchOptions, watch } from "./watch.ts";
import { type WatchEventsOptions, type WatchEventsQuery, watchEvents } from "./watch-events.ts";

/**
 * Creates a client for one Beckon installation. Most methods are generated from the API; the README
 * has the naming rule. `invoke`, `start`, `startAndWatch`, `fire` and `watch` are written by hand.
 * @throws TypeError if an option is invalid
 */
export function createClient(options: ClientOptions) {
  const settings = settingsOf(options);
  const send = createSender(settings);
  const operations = bindOperations(send);
  return {
    ...operations,
    agents: {
      ...operations.agents,
      /**
       * Runs an agent and returns its output, also if the run takes hours (at most 23). After a
       * network error the client waits for the same run and does not start a second one.
       */
      invoke: (agentId: string, body: InvokeAgentBody, options?: InvokeOptions) =>
        invoke(operations, agentId, body, {
          ...options,
          retries: options?.retries ?? settings.retries,
        }),
      /** Starts a run and returns its id immediately. */
      start: (agentId: string, body: InvokeAgentBody, options?: StartOptions) =>
        start(operations, agentId, body, options),
      /**
       * Starts a run and returns its id and its events from the first one. Slow readers can miss
       * output of the model; `run.step` has all of it.
       */
      startAndWatch: (agentId: string, body: InvokeAgentBody, options?: StartAndWatchOptions) =>
        startAndWatch(settings, agentId, body, options),
    },
    triggers: {
      ...operations.triggers,
      /**
       * Fires a trigger by URL or token. A string is sent as text, a `Blob` unchanged with its own
       * media type, a `FormData` as multipart form, all else as JSON. The result has `skipped` if
       * the trigger started no run.
       */
      fire: (urlOrToken: string, payload?: unknown, options?: OnceOptions & LabelOptions) =>
        fire(send, urlOrToken, payload, options),
    },
    runs: {
      ...operations.runs,
      /**
       * Yields each event of a run once, as it occurs, until the run ends. Reconnects
       * automatically.
       */
      watch: (runId: string, options?: WatchOptions) => watch(settings, runId, options),
    },
    events: {
      ...operations.events,
      /** Yields each event of the workspace once, as it occurs. Reconnects automatically. */
      watch: (query?: WatchEventsQuery, options?: WatchEventsOptions) =>
        watchEvents(settings, query, options),
    },
  };
}

/** Beckon's public API: one property per resource, with the methods for its operations. */
export type BeckonClient = ReturnType<typeof createClient>;
