import { z } from "zod";
import type { CollectedMetric } from "../base/metrics/index.ts";

/**
 * Messages over the IPC channel between the supervisor and its servers. The supervisor and the
 * servers have the same version, so parsing only detects programming errors. Messages that do not
 * match are ignored.
 */

/** The demo agent with its secrets, for what the supervisor prints when servers are ready. */
const demo = z.object({
  agent_id: z.string(),
  /** null if the agent has no token, or if the token cannot be decrypted. */
  agent_token: z.string().nullable(),
  /** null if there is no enabled trigger, or if its token cannot be decrypted. */
  trigger_url: z.string().nullable(),
  /** false if the agent is paused or uses another model: then no commands are printed for it. */
  is_offered: z.boolean(),
});
export type Demo = z.infer<typeof demo>;

/**
 * A provider of the operator: `environment` if settings contain the operator's account (API key or
 * URL), `discovered` for a model server that was found on this machine.
 */
const foundProvider = z.object({
  name: z.string(),
  origin: z.enum(["environment", "discovered"]),
  /**
   * One of the models of a model server, as `provider/model`. null if `origin` is `environment`, or
   * if the model server has no models.
   */
  model: z.string().nullable(),
});
export type FoundProvider = z.infer<typeof foundProvider>;

/** The server has begun to execute runs. Its startup has not ended yet. */
const executing = z.object({ type: z.literal("executing") });
export type Executing = z.infer<typeof executing>;

/** The server accepts requests. */
const ready = z.object({
  type: z.literal("ready"),
  /** Address that callers use: PUBLIC_URL, or `listening_url` if PUBLIC_URL is not set. */
  url: z.string(),
  /** Address that the server listens on. */
  listening_url: z.string(),
  /**
   * null if the demo agent was deleted, if neither it nor its trigger has a readable token, or if
   * the server was started without `--setup`.
   */
  demo: demo.nullable(),
  /**
   * Token of the link for the first owner. null if there is an owner, if BECKON_SETUP_LINK is 0, or
   * if the server was started without `--setup`.
   */
  setup_token: z.string().nullable(),
  /** Operator's providers that this startup found. */
  providers: z.array(foundProvider).readonly(),
});
export type Ready = z.infer<typeof ready>;

/** The server cannot start, and exits now. */
const failed = z.object({ type: z.literal("failed"), reason: z.string() });
export type Failed = z.infer<typeof failed>;

/** The server was asked to stop, and waits for the runs that it executes. */
const draining = z.object({ type: z.literal("draining"), runs: z.int().nonnegative() });
export type Draining = z.infer<typeof draining>;

/** The server was declared dead, and continues under this new process id. */
const registered = z.object({ type: z.literal("registered"), process_id: z.string() });
export type Registered = z.infer<typeof registered>;

/** These processes have exited, so their runs can be resumed at once. */
const exited = z.object({ type: z.literal("exited"), process_ids: z.array(z.string()) });
export type Exited = z.infer<typeof exited>;

/** The supervisor asks for the server's metrics. */
const collect = z.object({
  type: z.literal("collect"),
  id: z.int().nonnegative(),
  /** Whether to include figures of the whole installation, from the database. */
  database: z.boolean(),
});
export type Collect = z.infer<typeof collect>;

/** The supervisor asks whether the server's event loop still runs. */
const ping = z.object({ type: z.literal("ping") });
export type Ping = z.infer<typeof ping>;

/** The reply to `ping`. */
const pong = z.object({ type: z.literal("pong") });
export type Pong = z.infer<typeof pong>;

/**
 * The server's metrics, in the form of prom-client. `id` is the id of the message `collect` that
 * asked for the metrics; 0 if the supervisor did not ask for them.
 */
const metrics = z.object({
  type: z.literal("metrics"),
  id: z.int().nonnegative(),
  metrics: z.array(z.custom<CollectedMetric>((each) => typeof each === "object" && each !== null)),
});
export type CollectedMetrics = z.infer<typeof metrics>;

const fromServer = z.discriminatedUnion("type", [
  executing,
  ready,
  failed,
  draining,
  registered,
  metrics,
  pong,
]);
const fromSupervisor = z.discriminatedUnion("type", [exited, collect, ping]);

/** Parses a message of a server. @returns undefined if the message is not valid. */
export function parseFromServer(message: unknown): z.infer<typeof fromServer> | undefined {
  return fromServer.safeParse(message).data;
}

/** Parses a message of the supervisor. @returns undefined if the message is not valid. */
export function parseFromSupervisor(message: unknown): z.infer<typeof fromSupervisor> | undefined {
  return fromSupervisor.safeParse(message).data;
}
