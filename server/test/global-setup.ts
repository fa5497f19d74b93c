import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../src/base/database/embedded/index.ts";
import { checkServer, connect, migrate } from "../src/base/database/index.ts";
import { createLog } from "../src/base/log.ts";
import { databaseAt } from "./database-url.ts";
import { startGuard } from "./guard.ts";

/**
 * Starts one temporary PostgreSQL for the whole test run. Each project of Vitest connects in its
 * own way, and creates its template database over that connection with the code of the server's
 * startup:
 *
 *     embedded, e2e   as with the embedded PostgreSQL: socket and ordinary role
 *     external        as with an external PostgreSQL: TCP, password, and a superuser whose pools
 *                     switch to the role `beckon_server`
 */

/** What a test file needs to create its own database. */
export interface TestServer {
  /** URL of a superuser over TCP: creates and drops databases, finds leaked connections. */
  readonly adminUrl: string;
  /** URL with which the tests of this project connect. */
  readonly url: string;
  /**
   * Role that every connection switches to, as `checkServer` returns it. Undefined if connections
   * keep their login role.
   */
  readonly role: string | undefined;
  readonly owner: string;
  readonly template: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    server: TestServer;
  }
}

/**
 * The PostgreSQL cluster. It is stored in `globalThis`, because all projects share it and each
 * project loads this file again.
 */
interface Cluster {
  readonly socketUrl: string;
  readonly superuserUrl: string;
  stop(): Promise<void>;
}
const shared = globalThis as typeof globalThis & {
  beckonTestCluster?: { users: number; cluster: Promise<Cluster> };
};

export async function setup(project: TestProject): Promise<void> {
  shared.beckonTestCluster ??= { users: 0, cluster: startCluster() };
  shared.beckonTestCluster.users++;
  const cluster = await shared.beckonTestCluster.cluster;
  const url = project.name === "external" ? cluster.superuserUrl : cluster.socketUrl;
  project.provide("server", {
    adminUrl: cluster.superuserUrl,
    url,
    ...(await makeTemplate(project.name, url, cluster.superuserUrl)),
  });
}

export async function teardown(): Promise<void> {
  const used = shared.beckonTestCluster;
  if (used === undefined || --used.users > 0) return;
  delete shared.beckonTestCluster;
  await (await used.cluster).stop();
}

async function startCluster(): Promise<Cluster> {
  const guard = startGuard();
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-test-"));
  guard.watch(dataDir);
  const password = randomBytes(16).toString("hex");
  const embedded = await startEmbedded({
    dataDir,
    log: createLog("warn"),
    tcp: { password },
    // Enough for all test files that run at the same time, some of which start several servers.
    connections: 200,
  });
  if (embedded.elsewhere !== undefined) guard.watch(embedded.elsewhere);
  return {
    socketUrl: embedded.url,
    superuserUrl: embedded.tcpUrl,
    stop: async () => {
      await embedded.stop();
      await guard.release();
    },
  };
}

/**
 * Creates the template database, which is copied for every test file. It has our schema, created by
 * the project's role.
 */
async function makeTemplate(
  project: string,
  url: string,
  adminUrl: string,
): Promise<Omit<TestServer, "adminUrl" | "url">> {
  const template = `template_${project}`;
  const owner = await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>("select current_user as name");
    return rows[0]?.name ?? "";
  });
  await withClient(adminUrl, (admin) =>
    admin.query(`create database ${template} template template0 owner ${owner}`),
  );
  const connectionString = databaseAt(url, template);
  const role = await checkServer({ connectionString }, { trustStorage: false });
  const database = connect({ url: connectionString, poolSize: 4, role, log: createLog("warn") });
  try {
    await migrate(database.settings, async () => {});
  } finally {
    await database.close();
  }
  return { role, owner, template };
}

async function withClient<T>(
  connectionString: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
