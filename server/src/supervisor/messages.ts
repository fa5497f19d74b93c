import { isJsonObject } from "../base/json-object.ts";

/**
 * What supervisor and servers tell each other over the channel between them. Both are of one build and one machine, so this is a
 * check against mistakes, not against strangers; what does not fit is dropped.
 */

/** A server answers callers. */
export interface Ready {
  readonly type: "ready";
  readonly url: string;
  /** The demo agent, as long as it and its secrets are as the first start made them. */
  readonly demo: Demo | null;
  /** This start made the installation. */
  readonly created: boolean;
  /** Makes the first owner; null: there is one, or it was not asked for. */
  readonly setup_token: string | null;
  /** The operator's providers that this start found. */
  readonly providers: readonly FoundProvider[];
}

/** A provider of the operator: an account of the environment, or a model server on this machine. */
export interface FoundProvider {
  readonly name: string;
  readonly origin: "environment" | "discovered";
  /** `provider/model` of one of a model server's models; null: an account, or it has none. */
  readonly model: string | null;
}

/** What the first start made, with its secrets, for the person at the terminal. */
export interface Demo {
  readonly agent_id: string;
  readonly agent_token: string;
  readonly trigger_url: string;
}

/** The supervisor has seen these processes end: their runs may be taken over at once. */
export interface Reaped {
  readonly type: "reaped";
  readonly process_ids: readonly string[];
}

/** A message that a server sent. */
export function parseFromServer(message: unknown): Ready | undefined {
  if (!isJsonObject(message) || message["type"] !== "ready") return undefined;
  const { url, demo, created, setup_token, providers } = message;
  if (typeof url !== "string" || typeof created !== "boolean") return undefined;
  if (setup_token !== null && typeof setup_token !== "string") return undefined;
  if (!Array.isArray(providers) || !providers.every(isFoundProvider)) return undefined;
  const ready = { type: "ready", url, created, setup_token, providers } as const;
  if (demo === null) return { ...ready, demo };
  if (!isJsonObject(demo)) return undefined;
  const { agent_id, agent_token, trigger_url } = demo;
  if (
    typeof agent_id !== "string" ||
    typeof agent_token !== "string" ||
    typeof trigger_url !== "string"
  )
    return undefined;
  return { ...ready, demo: { agent_id, agent_token, trigger_url } };
}

function isFoundProvider(value: unknown): value is FoundProvider {
  if (!isJsonObject(value)) return false;
  const { name, origin, model } = value;
  return (
    typeof name === "string" &&
    (origin === "environment" || origin === "discovered") &&
    (model === null || typeof model === "string")
  );
}

/** A message that the supervisor sent. */
export function parseFromSupervisor(message: unknown): Reaped | undefined {
  if (!isJsonObject(message) || message["type"] !== "reaped") return undefined;
  const ids = message["process_ids"];
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string")) return undefined;
  return { type: "reaped", process_ids: ids };
}
