import { Kysely, PostgresDialect } from "kysely";
import { Client, Pool, type PoolClient, type PoolConfig } from "pg";
import { ConfigError } from "../errors.ts";
import type { Log } from "../log.ts";
import { isReadOnly } from "./failures.ts";
import { takeTurns } from "./in-workspace.ts";
import { optionsNeeded } from "./start-failure.ts";
import type { Tables } from "./tables.ts";

/**
 * Connection pools on one database. In the pool `tenant`, row-level security shows each transaction
 * the rows of one workspace. The other pools see all workspaces.
 */
export interface Database {
  /**
   * Sees all workspaces. Used to start, claim and execute runs, to read journals and event streams,
   * and to look up credentials.
   */
  readonly engine: Pool;
  /** Sees no rows until a transaction sets its workspace; see `inWorkspace`. */
  readonly tenant: Kysely<Tables>;
  /**
   * The engine's pool as a query builder, for better-auth and for background tasks. It is not
   * limited to a workspace, because users and their sessions belong to none.
   */
  readonly accounts: Kysely<Tables>;
  /**
   * One connection, used only to renew the lease and to record processes that started or exited, so
   * that a renewal never waits for a free connection.
   */
  readonly lease: Pool;
  /** Settings for code that opens its own connection. Such a connection sees all workspaces. */
  readonly settings: PoolConfig;
  /** The pools by name, for metrics. */
  readonly pools: readonly (readonly [
    name: "engine" | "tenant" | "lease",
    pool: Pick<Pool, "totalCount" | "idleCount" | "waitingCount">,
  ])[];
  close(): Promise<void>;
}

/** What sends the engine's queries: its pool, or one connection. */
export type Queryable = Pick<Database["engine"], "query">;

/**
 * Opening a connection or executing a statement normally takes a few milliseconds. If one of these
 * limits is reached, the database or the network has a problem.
 */
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 20_000;
/**
 * Returns the timeout of a lease renewal, and of its connection. It is short enough that a renewal
 * that gets no response can be repeated on another connection before the lease expires: renewals
 * are a sixth of the lease apart, and so is the repeat, or one second if that is less. It is at
 * least one second, because a busy machine can take that long. With a lease below 4 seconds, the
 * repeat therefore has less time than the first attempt.
 */
const leaseTimeoutMs = (leaseSeconds: number) =>
  Math.min(5_000, Math.max(1_000, (leaseSeconds * 1_000) / 4));

/**
 * Planner settings for the engine's statements, which find every row by an index. Each connection
 * plans a statement once (`force_generic_plan`) and uses the plan from then on. A plan that was
 * made while a table was almost empty would have a sequential scan, or a bitmap scan of the whole
 * queue, and would still be used after the table has grown. The other settings leave only index
 * scans.
 */
const pointLookups = [
  "-c enable_seqscan=off",
  "-c enable_mergejoin=off",
  "-c enable_bitmapscan=off",
  "-c plan_cache_mode=force_generic_plan",
];

/**
 * Settings on which `pg` and Beckon's statements rely. Their defaults can be changed for the
 * server, the database or the role.
 */
const sessionSettings = [
  // `pg` returns null for times in another format.
  "-c datestyle=ISO",
  // Statements that waited for a lock must see what was committed meanwhile.
  "-c default_transaction_isolation=read\\ committed",
  // The pools close idle connections themselves. The LISTEN connection is idle most of the time.
  "-c idle_session_timeout=0",
  // `statement_timeout` limits the wait for a lock. A migration can wait for as long as it takes.
  "-c lock_timeout=0",
];

export interface ConnectOptions {
  readonly url: string;
  /** Total connections of the engine and tenant pools; at least 4. */
  readonly poolSize: number;
  /** Role that every connection switches to, as `checkServer` returned it; undefined for none. */
  readonly role: string | undefined;
  /** Length of the lease that the pool `lease` renews. Default: 30. */
  readonly leaseSeconds?: number;
  readonly log: Log;
}

/**
 * Returns the settings with which the connections of a server process are opened.
 * @param workspace `*` for a connection that sees all workspaces; undefined for one that sees none.
 * @param timeoutMs maximum milliseconds of a statement; default: 20,000.
 */
export function connectionSettings(
  { url, role }: Pick<ConnectOptions, "url" | "role">,
  workspace: "*" | undefined,
  timeoutMs = statementTimeoutMs,
): PoolConfig {
  const { connectionString, options: urlOptions } = takeOptions(url);
  return {
    connectionString,
    connectionTimeoutMillis: Math.min(connectTimeoutMs, timeoutMs),
    // Longer than the timeout of the server, whose error says more.
    query_timeout: timeoutMs + Math.min(1_000, timeoutMs / 5),
    keepAlive: true,
    application_name: "beckon",
    options: [
      ...urlOptions,
      ...sessionSettings,
      `-c statement_timeout=${timeoutMs}`,
      `-c idle_in_transaction_session_timeout=${timeoutMs}`,
      // JIT compilation helps only long analytic statements. Beckon's statements run for
      // microseconds.
      "-c jit=off",
      ...(workspace === "*" ? ["-c beckon.workspace=*", ...pointLookups] : []),
      ...(role === undefined ? [] : [`-c role=${role}`]),
    ].join(" "),
  };
}

/**
 * Checks that a connection that sees all workspaces has the `options` of `connectionSettings`.
 * Without them the pool `engine` would find no rows, and Beckon would reject all credentials. One
 * option is enough to check: a pooler that interprets `options` does not know `beckon.workspace`,
 * and any other pooler passes on all of them or none.
 * @throws ConfigError if a pooler dropped them.
 */
export async function rejectDroppedOptions(client: Client): Promise<void> {
  const { rows } = await client.query<{ workspace: string | null }>(
    "select current_setting('beckon.workspace', true) as workspace",
  );
  if (rows[0]?.workspace !== "*") throw new ConfigError(optionsNeeded);
}

/**
 * Creates the pools. Connections are opened on demand. An error on an idle connection is logged and
 * the pool replaces the connection.
 */
export function connect({ url, poolSize, role, leaseSeconds = 30, log }: ConnectOptions): Database {
  const open = (size: number, workspace: "*" | undefined, timeoutMs?: number) => {
    const pool = new Pool({
      ...connectionSettings({ url, role }, workspace, timeoutMs),
      max: size,
      idleTimeoutMillis: 60_000,
      Client: PooledClient,
    });
    pool.on("error", (error) => log.outages.database.failed(error));
    // Connections on which the server rejected a write because it is read-only.
    const readOnly = new WeakSet<PoolClient>();
    pool.on("connect", (client) => {
      // The pool listens for errors of idle connections only. An unhandled "error" event of a
      // connection in use would end the process. The code that uses the connection gets the error
      // from its current or next statement.
      client.on("error", () => {});
      // `pg` does not document this event: the server's error response to a statement.
      client.connection.on("errorMessage", (error) => isReadOnly(error) && readOnly.add(client));
    });
    // After a query timeout, `pg` keeps waiting for the response on the same connection, and Kysely
    // returns the connection to the pool without an error. If the connection is silent, for example
    // because the server's machine failed, each later statement on it would time out too. So the
    // connection is closed. It is also closed if its server is read-only: a new connection can lead
    // to the new primary after a failover.
    pool.on("release", (error, client) => {
      if (!error && (awaitsResponse(client) || readOnly.has(client))) void client.end();
    });
    return pool;
  };
  const engine = open(Math.ceil(poolSize / 2), "*");
  const lease = open(1, "*", leaseTimeoutMs(leaseSeconds));
  const tenantSize = Math.max(1, Math.floor(poolSize / 2));
  const tenantPool = open(tenantSize, undefined);
  const tenant = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: tenantPool }) });
  const tenantTurns = takeTurns(tenant, tenantSize);
  return {
    engine,
    tenant,
    accounts: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: engine }) }),
    lease,
    settings: connectionSettings({ url, role }, "*"),
    pools: [
      ["engine", engine],
      [
        "tenant",
        {
          get totalCount() {
            return tenantPool.totalCount;
          },
          get idleCount() {
            return tenantPool.idleCount;
          },
          get waitingCount() {
            return tenantTurns.waitingCount + tenantPool.waitingCount;
          },
        },
      ],
      ["lease", lease],
    ],
    close: async () => {
      await Promise.all([engine.end(), lease.end(), tenant.destroy()]);
    },
  };
}

/**
 * A `Client` whose constructor does not throw. The constructor of `pg` throws if a certificate file
 * that the URL names cannot be read at the moment. The pool also creates clients in callbacks of
 * other connections, where an exception would end the process. So the new client's method `connect`
 * reports the error instead.
 */
const PooledClient = new Proxy(Client, {
  construct(target, parameters) {
    try {
      return Reflect.construct(target, parameters);
    } catch (thrown) {
      const connect = (report: (error: unknown) => void) => void setImmediate(report, thrown);
      return Object.assign(new target(), { connect });
    }
  },
});

/**
 * Returns whether the response to a statement on this connection is outstanding. `pg` has no
 * documented property for it.
 */
function awaitsResponse(client: PoolClient): boolean {
  return "readyForQuery" in client && client.readyForQuery === false;
}

/**
 * Separates the parameter `options` from the URL. Otherwise `pg` would let it replace our options,
 * which set the workspace and the role. Also removes `application_name`, because `beckon restore
 * --mark` finds Beckon's connections by the name `beckon`.
 */
function takeOptions(url: string): {
  connectionString: string;
  options: string[];
} {
  const queryAt = url.indexOf("?");
  if (queryAt === -1) return { connectionString: url, options: [] };
  const parameters = new URLSearchParams(url.slice(queryAt + 1));
  const options = parameters.getAll("options");
  parameters.delete("options");
  parameters.delete("application_name");
  return { connectionString: `${url.slice(0, queryAt)}?${parameters}`, options };
}
