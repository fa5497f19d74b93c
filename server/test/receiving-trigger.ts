import { createHmac } from "node:crypto";
import { type Receiving, receiving } from "@beckon/contract";
import type { Pool } from "pg";
import { createSecretCipher, parseMasterKey } from "../src/base/secrets/index.ts";
import { presets } from "../src/receiving/index.ts";
import { bindingOfSenderSecret } from "../src/triggers/secrets/binding.ts";
import type { Answer, TestBeckon } from "./beckon.ts";

type Queryable = Pick<Pool, "query">;

/** A trigger with settings for receiving the requests of a service. */
export interface ReceivingTrigger {
  readonly id: string;
  readonly agentId: string;
  readonly url: string;
  /** Sends a request that is signed as GitHub signs. */
  send(body: unknown, headers?: Record<string, string>, query?: string): Promise<Answer>;
  /** Changes the settings. */
  set(change: SettingsChange): Promise<void>;
  /** Returns the received requests, oldest first. */
  requests(): Promise<ReceivedRow[]>;
}

export type SettingsChange = Partial<Omit<Receiving, "bodies" | "form">> & {
  readonly bodies?: Partial<Receiving["bodies"]>;
  readonly form?: Partial<Receiving["form"]>;
};

export interface ReceivedRow {
  readonly id: string;
  readonly outcome: string;
  readonly error: string | null;
  readonly event_id: string | null;
  readonly event_type: string | null;
  readonly run_id: string | null;
  readonly size: number;
  readonly query: string | null;
  readonly headers: Record<string, string> | null;
  readonly body: Buffer | null;
}

/** The settings of GitHub's preset without its filter, which would start a process in each test. */
export const github: Receiving = { ...presetOf("github"), filter: null };

function presetOf(name: string): Receiving {
  const found = presets.find((preset) => preset.name === name);
  if (found === undefined) throw new Error(`there is no preset ${name}`);
  return receiving.parse(found.receiving);
}

/** Settings that verify nothing and locate no event id. */
export const unverified: Receiving = receiving.parse({});

/**
 * Creates a trigger and writes its settings directly to the database. The settings must match the
 * schema, but the API's further checks are skipped, for example of the filter and the template.
 * @param change settings that differ from `from`, which is GitHub's preset by default
 */
export async function createReceiving(
  beckon: TestBeckon,
  agentId: string,
  change: SettingsChange = {},
  { from = github, prefix = "" }: { readonly from?: Receiving; readonly prefix?: string } = {},
): Promise<ReceivingTrigger> {
  const { id, url } = await beckon.createTrigger(agentId, { prompt_prefix: prefix });
  const { masterKey } = beckon.config;
  if (masterKey === undefined) throw new Error("there is no master key");
  const engine = beckon.db.database.engine;
  let settings = merged(from, change);
  const write = () => configureTrigger(engine, masterKey, id, settings);
  await write();
  return {
    id,
    agentId,
    url,
    send(body, headers = {}, query = "") {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return beckon.call(`${url}${query}`, {
        credential: null,
        body: text,
        headers: { "content-type": "application/json", ...signedAsGithub(text), ...headers },
      });
    },
    async set(next) {
      settings = merged(settings, next);
      await write();
    },
    async requests() {
      const found = await engine.query<ReceivedRow>(
        "select * from received_requests where trigger_id = $1 order by id",
        [id],
      );
      return found.rows;
    },
  };
}

const secret = "It's a Secret to Everybody";

/** Stores the settings of a trigger, and the secret with which `signedAsGithub` signs. */
export async function configureTrigger(
  pool: Queryable,
  masterKey: string,
  triggerId: string,
  settings: Receiving,
): Promise<void> {
  const { rows } = await pool.query<{ workspace_id: string }>(
    "select workspace_id from triggers where id = $1",
    [triggerId],
  );
  const workspaceId = rows[0]?.workspace_id ?? "";
  const encrypted = createSecretCipher(parseMasterKey(masterKey)).encrypt(
    secret,
    bindingOfSenderSecret({ workspaceId, triggerId, column: "sender_secret" }),
  );
  await pool.query(
    `update triggers set receiving = $2, sender_secret = $3,
      receiving_version = receiving_version + 1 where id = $1`,
    [triggerId, JSON.stringify(settings), encrypted],
  );
}

/** Returns the header with which GitHub signs a body. */
export function signedAsGithub(body: string, key = secret): Record<string, string> {
  const signature = createHmac("sha256", key).update(body).digest("hex");
  return { "x-hub-signature-256": `sha256=${signature}` };
}

function merged(settings: Receiving, { bodies, form, ...change }: SettingsChange): Receiving {
  return receiving.parse({
    ...settings,
    ...change,
    bodies: { ...settings.bodies, ...bodies },
    form: { ...settings.form, ...form },
  });
}
