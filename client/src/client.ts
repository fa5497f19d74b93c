import { fire } from "./fire.ts";
import type { FollowOptions } from "./follow.ts";
import { bindOperations } from "./generated/operations.ts";
import type { InvokeAgentBody } from "./generated/schemas.ts";
import { type InvokeOptions, invoke, type StartOptions, start } from "./invoke.ts";
import { type ClientOptions, type OnceOptions, settingsOf } from "./options.ts";
import { createSender } from "./sender.ts";
import { type WatchOptions, watch } from "./watch.ts";
import { type WatchEventsQuery, watchEvents } from "./watch-events.ts";

/**
 * A client of one Beckon. Its functions are those of the API, named by rule (README); made by hand are those that do more than one request.
 * @throws TypeError when an option cannot be used.
 */
export function createClient(options: ClientOptions) {
  const settings = settingsOf(options);
  const send = createSender(settings);
  const operations = bindOperations(send);
  return {
    ...operations,
    agents: {
      ...operations.agents,
      /** Run an agent and get its output, however long it takes, started once whatever happens on the way. */
      invoke: (agentId: string, body: InvokeAgentBody, options?: InvokeOptions) =>
        invoke(operations, agentId, body, options),
      /** Start a run and get its id at once. */
      start: (agentId: string, body: InvokeAgentBody, options?: StartOptions) =>
        start(operations, agentId, body, options),
    },
    triggers: {
      ...operations.triggers,
      /** Fire a trigger by its URL or its token: a string is sent as text, anything else as JSON. */
      fire: (urlOrToken: string, payload?: unknown, options?: OnceOptions) =>
        fire(send, urlOrToken, payload, options),
    },
    runs: {
      ...operations.runs,
      /** A run's events, live and each once, until it has ended, over every cut. */
      watch: (runId: string, options?: WatchOptions) => watch(settings, runId, options),
    },
    events: {
      ...operations.events,
      /** The events of all runs, or of one agent's or some kinds, live and each once, over every cut. */
      watch: (query?: WatchEventsQuery, options?: FollowOptions) =>
        watchEvents(settings, query, options),
    },
  };
}

/** Beckon's public API: one property for each resource, one method for each operation. */
export type BeckonClient = ReturnType<typeof createClient>;
