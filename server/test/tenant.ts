import { randomBytes } from "node:crypto";
import { addAgent } from "../src/agents/index.ts";
import type { Context } from "../src/base/context.ts";
import { type Database, inWorkspace } from "../src/base/database/index.ts";
import { newId } from "../src/base/ids.ts";
import { createSecretCipher, hashCredential } from "../src/base/secrets/index.ts";
import { registerProcess } from "../src/processes/process-store.ts";
import type { AppendRow } from "../src/runs/journal/append-row.ts";
import type { RunEnd } from "../src/runs/journal/run-end.ts";
import type { CreatedRun, StartResult, StartRow } from "../src/runs/starting/start-row.ts";
import { addTrigger } from "../src/triggers/index.ts";
import { startRuns } from "./write-runs.ts";

/**
 * Test data for the statements of `runs/`. The functions create the rows that these statements
 * need, with the operations of production, and return inputs of the statements.
 */

const cipher = createSecretCipher(randomBytes(32));

/** An agent, and the hash of its token. */
export interface SeededAgent {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly hash: Buffer;
}

export interface SeededTrigger {
  readonly triggerId: string;
  readonly hash: Buffer;
}

export async function seedWorkspace(database: Database): Promise<string> {
  const id = newId("wsp");
  await database.engine.query("insert into workspaces (id, name) values ($1, 'Test')", [id]);
  return id;
}

const contextOf = (database: Database, workspaceId: string): Context => ({
  database,
  cipher,
  actor: { kind: "system" },
  workspaceId,
});

/** Creates an agent, by default in a new workspace. */
export async function seedAgent(
  database: Database,
  { workspaceId: given, ...body }: Record<string, unknown> & { workspaceId?: string } = {},
): Promise<SeededAgent> {
  const workspaceId = given ?? (await seedWorkspace(database));
  const ctx = contextOf(database, workspaceId);
  const agent = await inWorkspace(database.tenant, workspaceId, (tx) =>
    addAgent(tx, ctx, { name: "Test", model: "demo/echo", ...body }),
  );
  return { workspaceId, agentId: agent.id, hash: hashCredential(agent.token) };
}

export async function seedTrigger(
  database: Database,
  agent: SeededAgent,
  body: Record<string, unknown> = {},
): Promise<SeededTrigger> {
  const ctx = contextOf(database, agent.workspaceId);
  const trigger = await inWorkspace(database.tenant, agent.workspaceId, (tx) =>
    addTrigger(tx, ctx, { agentId: agent.agentId, body: { name: "Test", ...body } }),
  );
  return { triggerId: trigger.id, hash: hashCredential(trigger.token) };
}

/** Registers a live process. */
export async function seedProcess(database: Database): Promise<string> {
  const id = newId("prc");
  await registerProcess(database.engine, id, 600);
  return id;
}

/**
 * Returns a request to start a run of the agent. The request passes the admission check. If `owner`
 * is the id of a process, that process executes the run at once. If it is undefined, the run is
 * queued.
 */
export function startRow(agent: SeededAgent, { owner, ...rest }: Partial<StartRow> = {}): StartRow {
  return {
    runId: newId("run"),
    eventId: newId("evt"),
    source: "invoke",
    caller: { kind: "credential", hash: agent.hash },
    agentId: agent.agentId,
    key: null,
    bodyHash: null,
    payload: "hello",
    contentType: null,
    body: "good",
    hasCapacity: owner !== undefined,
    owner: owner ?? "prc_none",
    ...rest,
  };
}

/** Starts a run of the agent. */
export async function startOne(
  database: Database,
  agent: SeededAgent,
  options: Partial<StartRow> = {},
): Promise<CreatedRun> {
  const [answer] = await startRuns(database, [startRow(agent, options)]);
  return startedOf(answer);
}

export function startedOf(answer: StartResult | undefined): CreatedRun {
  if (answer?.kind !== "started") throw new Error(`not started: ${answer?.kind}`);
  return answer.run;
}

/** Returns an input that appends one entry to a run that is executed by `owner`. */
export function appendRow(
  run: CreatedRun,
  owner: string,
  rest: Partial<AppendRow> = {},
): AppendRow {
  return {
    runId: run.runId,
    workspaceId: run.workspaceId,
    owner,
    fence: 1,
    lastSeq: 1,
    entries: [{ id: newId("evt"), type: "run.step", data: '{"text":"step"}', artifact: undefined }],
    ...rest,
  };
}

/** The end of a run, for `appendRow`. */
export const succeeded: RunEnd = {
  status: "succeeded",
  output: "done",
  error: null,
  usage: { input_tokens: 1, output_tokens: 2, cached_input_tokens: 0 },
  costMicros: null,
};
