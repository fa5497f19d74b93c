import { Kysely, PostgresDialect } from "kysely";
import { Pool, type PoolConfig } from "pg";
import type { Log } from "../log.ts";
import type { Tables } from "./tables.ts";

/** Two pools on one database, told apart by what row-level security lets them see. */
export interface Database {
  /** Sees all workspaces: the start, append and claim statements, look-ups of a credential. */
  readonly engine: Pool;
  /** Sees nothing until a transaction names its workspace: see `inWorkspace`. */
  readonly tenant: Kysely<Tables>;
  /** The engine's pool again, for the accounts' library: people and their sessions belong to no workspace. */
  readonly accounts: Kysely<Tables>;
  /** One connection that nothing else uses, for the lease: it must never wait for a free one. */
  readonly lease: Pool;
  /** For what opens a connection by itself. */
  readonly settings: PoolConfig;
  close(): Promise<void>;
}

/** Milliseconds. A statement of ours takes a few; the rest is a database or a network in trouble. */
const connectTimeout = 5_000;
const statementTimeout = 20_000;
/** A renewal that waits longer had better be tried again on another connection, while the lease lasts. */
const leaseTimeout = 5_000;

/**
 * The engine's statements find each row by its key. A prepared one is planned once, perhaps on an almost empty table, and would go on
 * reading the whole table when it has grown; or, with a bitmap, the whole queue to find its first run. So their shape leaves the planner one way only,
 * and it is asked once per connection.
 */
const pointLookups = [
  "-c enable_seqscan=off",
  "-c enable_mergejoin=off",
  "-c enable_bitmapscan=off",
  "-c plan_cache_mode=force_generic_plan",
];

export interface ConnectOptions {
  readonly url: string;
  /** Connections of both pools together, at least 4. */
  readonly poolSize: number;
  /** Non-login role that every connection takes: see `checkServer`. */
  readonly role: string | undefined;
  readonly log: Log;
}

/** Opens the pools; connections are made when needed. An error on an idle connection is logged, and the pool replaces it. */
export function connect({ url, poolSize, role, log }: ConnectOptions): Database {
  const { place, options: given } = takeOptions(url);
  const settings = (workspace: "*" | undefined, timeout = statementTimeout): PoolConfig => ({
    connectionString: place,
    connectionTimeoutMillis: connectTimeout,
    query_timeout: timeout + 1_000,
    keepAlive: true,
    application_name: "beckon",
    options: [
      ...given,
      `-c statement_timeout=${timeout}`,
      `-c idle_in_transaction_session_timeout=${timeout}`,
      // Compiling a statement pays off for long analytic ones; ours run for microseconds.
      "-c jit=off",
      ...(workspace === "*" ? ["-c beckon.workspace=*", ...pointLookups] : []),
      ...(role === undefined ? [] : [`-c role=${role}`]),
    ].join(" "),
  });
  const open = (size: number, workspace: "*" | undefined, timeout?: number) => {
    const pool = new Pool({
      ...settings(workspace, timeout),
      max: size,
      idleTimeoutMillis: 60_000,
    });
    pool.on("error", (error) =>
      log.warn({ reason: error.message }, "an idle database connection was lost"),
    );
    // The pool listens for errors of idle connections only. One that breaks in the hands of a transaction says so to nobody, which would
    // end the process; whoever holds it hears of it from the statement under way, or from the next.
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  };
  const engine = open(Math.ceil(poolSize / 2), "*");
  const lease = open(1, "*", leaseTimeout);
  const tenant = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: open(Math.floor(poolSize / 2), undefined) }),
  });
  return {
    engine,
    tenant,
    accounts: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: engine }) }),
    lease,
    settings: settings("*"),
    close: async () => {
      await Promise.all([engine.end(), lease.end(), tenant.destroy()]);
    },
  };
}

/** Takes the URL's `options` out of it: `pg` would let them replace ours, and with them the workspace and the role. */
function takeOptions(url: string): { place: string; options: string[] } {
  const [start = "", query] = url.split("?", 2);
  if (query === undefined) return { place: url, options: [] };
  const parameters = new URLSearchParams(query);
  const options = parameters.getAll("options");
  parameters.delete("options");
  return { place: `${start}?${parameters}`, options };
}
