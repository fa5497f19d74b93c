import { z } from "zod";

/**
 * Messages over the channel between the supervisor and its servers. Both ends are the same build
 * on the same machine: parsing detects mistakes and drops messages that do not match.
 */

/** The demo agent with its secrets, for the greeting. */
const demo = z.object({
  agent_id: z.string(),
  /** null: there is none, or it cannot be decrypted. */
  agent_token: z.string().nullable(),
  /** null: there is none, it is disabled, or it cannot be decrypted. */
  trigger_url: z.string().nullable(),
});
export type Demo = z.infer<typeof demo>;

/** A provider of the operator: an account of the environment, or a model server on this machine. */
const foundProvider = z.object({
  name: z.string(),
  origin: z.enum(["environment", "discovered"]),
  /** `provider/model` of one of a model server's models; null: an account, or it has none. */
  model: z.string().nullable(),
});
export type FoundProvider = z.infer<typeof foundProvider>;

/** The server accepts requests. */
const ready = z.object({
  type: z.literal("ready"),
  /** Address that callers use: PUBLIC_URL if it is set. */
  url: z.string(),
  /** Address that the server listens on. */
  listening_url: z.string(),
  /** null: it was deleted, paused or changed, or this server was not asked for it. */
  demo: demo.nullable(),
  /** Makes the first owner; null: there is one, or this server was not asked for it. */
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

/** The supervisor has seen these processes exit: their runs can be resumed at once. */
const reaped = z.object({ type: z.literal("reaped"), process_ids: z.array(z.string()) });
export type Reaped = z.infer<typeof reaped>;

const fromServer = z.discriminatedUnion("type", [ready, failed, draining]);

/** Parses a message that a server sent. Undefined if it does not match. */
export function parseFromServer(message: unknown): Ready | Failed | Draining | undefined {
  return fromServer.safeParse(message).data;
}

/** Parses a message that the supervisor sent. Undefined if it does not match. */
export function parseFromSupervisor(message: unknown): Reaped | undefined {
  return reaped.safeParse(message).data;
}
