import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { type Embedded, startEmbedded } from "../../src/base/database/embedded/index.ts";
import { createLog } from "../../src/base/log.ts";
import { readConfig } from "../../src/config.ts";
import { start } from "../../src/main.ts";
import { databaseAt } from "../database-url.ts";

/**
 * Fills the file system of the data folder of a working server, and frees it again. Needs root and
 * permission to mount, otherwise the test is skipped with a message. Run by script/soak or with:
 * node server/test/soak/disk-full.ts
 */

/** Size of the file system in MiB. A new PostgreSQL cluster takes about 60. */
const diskSize = 200;
const fullMs = 15_000;
const resumeWithinMs = 60_000;
const callers = 8;

/** The nonce of one invoke, and its response. */
interface InvokeResult {
  readonly nonce: string;
  /** 0 if there was no complete response, which is a problem like any other unexpected status. */
  readonly status: number;
  readonly runId: string | undefined;
}

/**
 * Runs load while the disk with the database is filled and freed. Returns false if a response
 * contradicts the database, if data cannot be read, or if another problem was found.
 *
 * @param log receives a line of figures, or the reason why the test was skipped.
 */
export async function fillDisk(log: (line: string) => void): Promise<boolean> {
  const disk = mkdtempSync(join(tmpdir(), "beckon-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskSize}m,mode=0700`, "tmpfs", disk], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch (thrown) {
    rmSync(disk, { recursive: true });
    log(`disk full: skipped, because no file system can be mounted here (${reasonOf(thrown)})`);
    return true;
  }
  let embedded: Embedded | undefined;
  try {
    const options = {
      dataDir: join(disk, "data"),
      log: createLog("silent"),
      tcp: { password: randomBytes(16).toString("hex") },
    };
    const first = await startEmbedded(options);
    embedded = first;
    if (first.elsewhere !== undefined) {
      log(
        `disk full: skipped, because PostgreSQL's files are in ${first.elsewhere} and not in the data folder`,
      );
      return true;
    }
    const { results, readiness, fullFor, resumedAfter } = await fillUnderLoad(first.url, disk);
    const problems = await problemsOf(first.tcpUrl, results);
    if (readiness.whenFull !== 503)
      problems.push(`/readyz returned ${readiness.whenFull} while the disk was full`);
    if (readiness.afterwards !== 200)
      problems.push(`/readyz returned ${readiness.afterwards} after the server had resumed`);
    // Restarts PostgreSQL and checks the database again.
    await first.stop();
    const second = await startEmbedded(options);
    embedded = second;
    problems.push(
      ...(await problemsOf(second.tcpUrl, results)).map((problem) => `after a restart: ${problem}`),
    );
    if (resumedAfter > resumeWithinMs)
      problems.push(`it did not resume within ${resumeWithinMs / 1_000} s`);
    for (const problem of problems.slice(0, 20)) log(`✗ disk full: ${problem}`);
    const count = (status: number) => results.filter((each) => each.status === status).length;
    log(
      `disk full: ${count(200)} acknowledged, ${problems.length} problems; full for ${seconds(fullFor)} s, ${count(503)} responses of 503; ` +
        `resumed ${seconds(resumedAfter)} s after space was freed`,
    );
    return problems.length === 0;
  } finally {
    await embedded?.stop();
    execFileSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  }
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);
const reasonOf = (thrown: unknown) =>
  thrown instanceof Error ? (thrown.message.trim().split("\n").at(-1) ?? "") : String(thrown);

interface DiskTest {
  readonly results: InvokeResult[];
  /** Status codes of /readyz. */
  readonly readiness: { readonly whenFull: number; readonly afterwards: number };
  readonly fullFor: number;
  readonly resumedAfter: number;
}

/** Runs load while the disk is filled and freed. */
async function fillUnderLoad(databaseUrl: string, disk: string): Promise<DiskTest> {
  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const config = readConfig({
    PORT: "0",
    LOG_LEVEL: "silent",
    DATABASE_URL: databaseUrl,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_BOOTSTRAP_KEY: key,
  });
  const beckon = await start({ config });
  const post = (path: string, credential: string, body: unknown) =>
    fetch(`${beckon.url}/api/public${path}`, {
      method: "POST",
      headers: { "x-api-key": credential, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const created = (await (
    await post("/agents", key, { name: "Full", model: "demo/echo" })
  ).json()) as {
    data: { id: string; token: string };
  };
  const results: InvokeResult[] = [];
  let working = true;
  const padding = "x".repeat(4_000);

  async function invoke(name: string): Promise<void> {
    const nonce = `nonce ${name} ${padding}`;
    try {
      const response = await post(`/agents/${created.data.id}/invoke`, created.data.token, {
        input: nonce,
      });
      const { run_id: runId } = (await response.json()) as { run_id?: string };
      results.push({ nonce, status: response.status, runId });
    } catch {
      results.push({ nonce, status: 0, runId: undefined });
    }
  }
  async function work(caller: number): Promise<void> {
    for (let turn = 0; working; turn++) await invoke(`${caller}-${turn}`);
  }

  const workers = Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
  try {
    await delay(2_000);
    const filler = join(disk, "filler");
    const file = openSync(filler, "w");
    const fullAt = performance.now();
    // While the disk is full, accepted runs cannot end, so soon all callers wait for their runs.
    // The test therefore sends further requests, to see whether Beckon accepts new runs.
    const asking: Promise<void>[] = [];
    while (performance.now() - fullAt < fullMs) {
      fill(file);
      asking.push(invoke(`full-${asking.length}`));
      await delay(100);
    }
    const whenFull = (await fetch(`${beckon.url}/readyz`)).status;
    closeSync(file);
    unlinkSync(filler);
    const freedAt = performance.now();
    const before = acknowledged(results);
    while (
      acknowledged(results) < before + callers &&
      performance.now() - freedAt < 2 * resumeWithinMs
    )
      await delay(50);
    const resumedAfter = performance.now() - freedAt;
    await delay(3_000);
    await Promise.all(asking);
    const afterwards = (await fetch(`${beckon.url}/readyz`)).status;
    return {
      results,
      readiness: { whenFull, afterwards },
      fullFor: freedAt - fullAt,
      resumedAfter,
    };
  } finally {
    working = false;
    await workers;
    await beckon.stop();
  }
}

const acknowledged = (results: readonly InvokeResult[]) =>
  results.filter(({ status }) => status === 200).length;

/** Uses all free space, to the last block. */
function fill(file: number): void {
  for (const size of [1 << 20, 1 << 16, 1 << 12]) {
    try {
      while (writeSync(file, Buffer.alloc(size, 1)) === size);
    } catch (thrown) {
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOSPC")) throw thrown;
    }
  }
}

/** Returns the problems: contradictions between `results` and the database, and unreadable data. */
async function problemsOf(
  superuserUrl: string,
  results: readonly InvokeResult[],
): Promise<string[]> {
  const client = new Client({ connectionString: databaseAt(superuserUrl, "beckon") });
  await client.connect();
  try {
    return [...(await runProblems(client, results)), ...(await fileProblems(client))];
  } finally {
    await client.end();
  }
}

async function runProblems(client: Client, results: readonly InvokeResult[]): Promise<string[]> {
  const problems: string[] = [];
  const { rows } = await client.query<{
    id: string;
    payload: string;
    status: string;
    ends: number;
    gaps: boolean;
  }>(
    `select r.id, i.payload, r.status,
        count(*) filter
          (where e.type in ('run.finished', 'run.failed', 'run.cancelled'))::int as ends,
        count(*) <> max(e.seq) or max(e.seq) <> r.last_seq as gaps
      from runs r join run_inputs i on i.run_id = r.id join events e on e.run_id = r.id
        group by r.id, i.payload, r.status, r.last_seq`,
  );
  const runsOf = new Map<string, typeof rows>();
  for (const row of rows) runsOf.set(row.payload, [...(runsOf.get(row.payload) ?? []), row]);
  for (const { nonce, status, runId } of results) {
    const name = nonce.slice(0, 20).trim();
    const succeeded = (runsOf.get(nonce) ?? []).filter((run) => run.status === "succeeded");
    if (status !== 200 && status !== 503) problems.push(`${name} was answered with ${status}`);
    if (status === 200 && (succeeded.length !== 1 || succeeded[0]?.id !== runId))
      problems.push(`${name} was acknowledged and does not have exactly one run`);
    if (status !== 200 && succeeded.length > 0)
      problems.push(`${name} got ${status} and has succeeded`);
  }
  for (const { id, ends, gaps, status } of rows) {
    if (ends !== 1 || gaps)
      problems.push(
        `${id} is ${status}, has ${ends} ends${gaps ? " and gaps in its journal" : ""}`,
      );
  }
  return problems;
}

/** Returns the tables of which not every row can be read, and broken indexes. */
async function fileProblems(client: Client): Promise<string[]> {
  const problems: string[] = [];
  const { rows: tables } = await client.query<{ name: string }>(
    "select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  for (const { name } of tables) {
    const read = client.query(`select sum(length(t::text)) from ${name} as t`);
    await read.catch((thrown) => problems.push(`${name} cannot be read: ${reasonOf(thrown)}`));
  }
  await client.query("create extension if not exists amcheck");
  const checked = client.query(
    `select bt_index_check(c.oid, true) from pg_class c join pg_am a on a.oid = c.relam
      and a.amname = 'btree'
      where c.relkind = 'i' and c.relnamespace = 'public'::regnamespace`,
  );
  await checked.catch((thrown) => problems.push(`an index is broken: ${reasonOf(thrown)}`));
  return problems;
}

if (import.meta.main) process.exitCode = (await fillDisk((line) => console.log(line))) ? 0 : 1;
