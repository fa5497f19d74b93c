import { randomBytes } from "node:crypto";
import { type Fleet, startFleet } from "./fleet.ts";
import type { Plan, World } from "./world.ts";

/** A fleet on one database, with an agent that uses the model of `World`. */
export interface Installation {
  readonly fleet: Fleet;
  /** A key with all permissions. */
  readonly key: string;
  readonly masterKey: string;
  readonly agent: { readonly id: string; readonly token: string };
  readonly triggerId: string;
  readonly triggerToken: string;
  close(): Promise<void>;
}

/** The minimum lease, so that the exit of a process is detected soon. */
export const leaseSeconds = 2;
/** Maximum attempts of a run if the agent's `limits` do not set it: Beckon's default. */
export const maxAttempts = 3;

/**
 * Starts `servers` processes on `databaseUrl` and creates provider, agent (with these `limits`) and
 * trigger over HTTP.
 * @param options `callable`: hosts that the servers can also call. `settings`: more environment
 *   variables of the servers.
 */
export async function install(
  world: World,
  databaseUrl: string,
  servers: number,
  limits: Readonly<Record<string, number>> = {},
  {
    callable = [],
    settings = {},
  }: {
    readonly callable?: readonly string[];
    readonly settings?: Readonly<Record<string, string>>;
  } = {},
): Promise<Installation> {
  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const masterKey = randomBytes(32).toString("base64");
  const fleet = await startFleet(servers, {
    DATABASE_URL: databaseUrl,
    BECKON_MASTER_KEY: masterKey,
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_LEASE_SECONDS: String(leaseSeconds),
    BECKON_EGRESS_ALLOW: [new URL(world.model.url).host, ...callable].join(),
    EFFECTS_URL: world.effectsUrl,
    ...settings,
  });
  const create = async (path: string, body: unknown) => {
    const response = await fetch(`${fleet.servers[0]?.url}/api/public${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { data: { id: string; token: string } };
    if (response.status !== 201)
      throw new Error(`${path} returned ${response.status}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  try {
    await create("/providers", {
      name: "world",
      kind: "openai-compatible",
      base_url: world.model.url,
    });
    const agent = await create("/agents", { name: "Crash", model: "world/scripted", limits });
    const trigger = await create(`/agents/${agent.id}/triggers`, { name: "Crash" });
    return {
      fleet,
      key,
      masterKey,
      agent,
      triggerId: trigger.id,
      triggerToken: trigger.token,
      close: () => fleet.close(),
    };
  } catch (thrown) {
    await fleet.close();
    throw thrown;
  }
}

let plans = 0;

/** Returns a plan with a new nonce. By default the model answers immediately. */
export function planned(plan: Partial<Plan> = {}): Plan {
  return {
    nonce: `n${++plans}-${randomBytes(4).toString("hex")}`,
    steps: [],
    thinkMs: 0,
    failures: 0,
    ...plan,
  };
}
