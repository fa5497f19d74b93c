import { createServer } from "node:http";
import { Pool } from "pg";
import { Agent, request } from "undici";
import { createBatcher } from "../server/src/base/database/index.ts";

/**
 * The baseline: a server that does only what is necessary to forward a request to a model and to
 * store the result. It parses the request, calls the model over a keep-alive connection, and makes
 * two writes to the PostgreSQL server that Beckon uses too, in batches with the writes of other
 * requests. It has no authentication, no checks and no recovery.
 */
const [, , databaseUrl = "", modelPort = ""] = process.argv;
// PostgreSQL plans the prepared update while its table is empty, so it could choose a sequential
// scan and use it for the whole measurement. That would make the baseline eight times slower.
// Therefore sequential scans are disabled.
const pool = new Pool({ connectionString: databaseUrl, max: 5, options: "-c enable_seqscan=off" });
const agent = new Agent({ connections: 4_096, pipelining: 1 });
const order = (row: { id: string }) => row.id;
const limits = { order, bytes: () => 100, maxRows: 200, maxBytes: 8_000_000 };

const starts = createBatcher<{ id: string; input: string }, true>({
  ...limits,
  write: async (rows) => {
    await pool.query({
      name: "start",
      text: `insert into bench_runs (id, status, input)
        select id, 'running', input from unnest($1::text[], $2::text[]) as r (id, input)`,
      values: [rows.map((row) => row.id), rows.map((row) => row.input)],
    });
    return rows.map(() => true);
  },
});
const ends = createBatcher<{ id: string; output: string }, true>({
  ...limits,
  write: async (rows) => {
    await pool.query({
      name: "end",
      text: `update bench_runs b set status = 'succeeded', output = r.output
        from unnest($1::text[], $2::text[]) as r (id, output)
        where b.id = r.id and b.id = any ($1)`,
      values: [rows.map((row) => row.id), rows.map((row) => row.output)],
    });
    return rows.map(() => true);
  },
});

let count = 0;
async function respond(body: string): Promise<string> {
  const { input } = JSON.parse(body) as { input: string };
  const id = `${process.pid}-${++count}`;
  await starts.submit({ id, input });
  const modelResponse = await request(`http://127.0.0.1:${modelPort}/v1/chat/completions`, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", messages: [{ role: "user", content: input }] }),
  });
  const { choices } = (await modelResponse.body.json()) as {
    choices: { message: { content: string } }[];
  };
  const output = choices[0]?.message.content ?? "";
  await ends.submit({ id, output });
  return JSON.stringify({ ok: true, run_id: id, output });
}

const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => {
    respond(Buffer.concat(chunks).toString()).then(
      (text) =>
        outgoing
          .writeHead(200, {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(text),
          })
          .end(text),
      (error: Error) =>
        outgoing.writeHead(500, { "content-length": error.message.length }).end(error.message),
    );
  });
});
await pool.query(
  `create table if not exists bench_runs (
    id text primary key, status text not null, input text not null, output text)`,
);
server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
process.on("disconnect", () => process.exit());
