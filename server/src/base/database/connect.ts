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
  /** One connection that nothing else uses, for the lease: it must never wait for a free one. */
  readonly lease: Pool;
  /** For what opens a connection by itself. */
  readonly settings: PoolConfig;
  close(): Promise<void>;
}

/** Milliseconds. A statement of ours takes a few; the rest is a database or a network in trouble. */
const connectTimeout = 5_000;
const statementTimeout = 20_000;

/**
 * The engine's statements find each row by its key. A prepared one is planned once, perhaps on an almost empty table, and would go on
 * reading the whole table when it has grown.
 */
const pointLookups = ["-c enable_seqscan=off", "-c enable_mergejoin=off"];

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
  const settings = (workspace: "*" | undefined): PoolConfig => ({
    connectionString: url,
    connectionTimeoutMillis: connectTimeout,
    query_timeout: statementTimeout + 1_000,
    keepAlive: true,
    application_name: "beckon",
    options: [
      `-c statement_timeout=${statementTimeout}`,
      `-c idle_in_transaction_session_timeout=${statementTimeout}`,
      // Compiling a statement pays off for long analytic ones; ours run for microseconds.
      "-c jit=off",
      ...(workspace === "*" ? ["-c beckon.workspace=*", ...pointLookups] : []),
      ...(role === undefined ? [] : [`-c role=${role}`]),
    ].join(" "),
  });
  const open = (size: number, workspace: "*" | undefined) => {
    const pool = new Pool({ ...settings(workspace), max: size, idleTimeoutMillis: 60_000 });
    pool.on("error", (error) => log.warn({ reason: error.message }, "an idle database connection was lost"));
    return pool;
  };
  const engine = open(Math.ceil(poolSize / 2), "*");
  const lease = open(1, "*");
  const tenant = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: open(Math.floor(poolSize / 2), undefined) }),
  });
  return {
    engine,
    tenant,
    lease,
    settings: settings("*"),
    close: async () => {
      await Promise.all([engine.end(), lease.end(), tenant.destroy()]);
    },
  };
}
