import { Client } from "pg";

/**
 * Inserts finished runs of the agent, with their journals and their entries in the usage ledger, so
 * that the database has a history.
 */
export async function storeRuns(
  databaseUrl: string,
  agentId: string,
  count: number,
): Promise<void> {
  await connected(databaseUrl, async (client) => {
    await client.query(`create temporary table created as
      select 'run_' || lpad(to_hex(n), 26, '0') as id, n from generate_series(1, ${count}) as n`);
    const workspace = `(select workspace_id from agents where id = '${agentId}')`;
    await client.query(`insert into runs (
        id, workspace_id, agent_id, status, owner, fence, last_seq, started_at, finished_at)
      select id, ${workspace}, '${agentId}', 'succeeded', 'prc_gone', 1, 3, now(), now()
      from created`);
    await client.query(`insert into run_inputs (
        run_id, workspace_id, agent_version, source, payload, principal, engine_version)
      select id, ${workspace}, 1, 'invoke', 'What is the state of order 4711?',
        'token:${agentId}', 1
      from created`);
    await client.query(`insert into run_results (
        run_id, workspace_id, output, input_tokens, output_tokens, cached_input_tokens,
        usage_estimated)
      select id, ${workspace}, 'The order has been paid and will ship today.', 20, 10, 0, false
      from created`);
    await client.query(`insert into events (run_id, seq, workspace_id, id, type, version, data)
      select id, seq, ${workspace}, 'evt_' || seq || substr(id, 6), 'run.step', 1, '{"step": 1}'
      from created, generate_series(1, 3) as seq`);
    await client.query(insertEntries(agentId, count));
    await client.query("analyze");
  });
}

/**
 * Inserts entries into the usage ledger without their runs, as in a database where old runs were
 * deleted: the ledger keeps the entries of deleted runs.
 */
export async function storeEntries(
  databaseUrl: string,
  agentId: string,
  count: number,
): Promise<void> {
  await connected(databaseUrl, async (client) => {
    await client.query(insertEntries(agentId, count));
    await client.query("analyze usage_entries");
  });
}

/** Calls `act` with a connection that can write to all workspaces. */
async function connected(databaseUrl: string, act: (client: Client) => Promise<void>) {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set beckon.workspace = '*'");
    await act(client);
  } finally {
    await client.end();
  }
}

const insertEntries = (agentId: string, count: number) => `insert into usage_entries (
    run_id, seq, number, workspace_id, day, agent_id, source, principal, step, attempt, outcome,
    kind, provider, model, input_tokens, output_tokens, cost_micros, estimated)
  select 'run_' || lpad(to_hex(n), 26, '0'), 3, 1, a.workspace_id, current_date, a.id, 'invoke',
    'token:' || a.id, 1, 1, 'answered', 'model', 'instant', 'bench', 20, 10, 3, false
  from generate_series(1, ${count}) as n, agents a where a.id = '${agentId}'`;
