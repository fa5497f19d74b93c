import type { Ready } from "./messages.ts";

/** What a person at the terminal needs after a start: where Beckon is, where its keys are, and two lines to paste. */
export function greeting({
  ready: { url, demo, setup_token, providers },
  bootstrapKeyPath,
  postgres,
}: {
  ready: Ready;
  /** undefined: not kept by us. */
  bootstrapKeyPath: string | undefined;
  /** undefined: PostgreSQL is somebody else's. `elsewhere`: its files, when not in the data folder. */
  postgres: { readonly logPath: string; readonly elsewhere: string | undefined } | undefined;
}): string {
  const facts: [string, string | undefined][] = [
    ["Bootstrap key", bootstrapKeyPath],
    ["PostgreSQL data", postgres?.elsewhere],
    ["PostgreSQL log", postgres?.logPath],
    [
      "Models found",
      providers.map(({ name, model }) => model ?? `${name}/…`).join(", ") || undefined,
    ],
    ["Demo agent", demo?.agent_id],
    ["Its token", demo?.agent_token],
    ["Its trigger", demo?.trigger_url],
  ];
  const lines = ["", `Beckon is ready at ${url}`, ""];
  for (const [name, value] of facts)
    if (value !== undefined) lines.push(`  ${name.padEnd(16)} ${value}`);
  if (demo !== null) {
    const invoke = quoted(`${url}/api/public/agents/${demo.agent_id}/invoke`);
    lines.push(
      "",
      "Ask the demo agent and wait for its answer:",
      `  curl ${invoke} -H ${quoted(`x-api-key: ${demo.agent_token}`)} -H 'Content-Type: application/json' -d '{"input":"Hello"}'`,
      "",
      "Fire its trigger and get a run id at once:",
      `  curl ${quoted(demo.trigger_url)} -H 'Content-Type: text/plain' -d 'Hello from a trigger'`,
    );
  }
  if (setup_token !== null) {
    const body = JSON.stringify({
      token: setup_token,
      name: "Your name",
      email: "you@example.com",
      password: "at least 12 characters",
    });
    lines.push(
      "",
      "There is no owner yet. Become the first by this link, once; each start makes a new one:",
      // After a #, which browsers keep to themselves: no server on the way has it in its log.
      `  ${url}/setup#token=${setup_token}`,
      "or with a name, an e-mail and a password of yours in:",
      `  curl ${quoted(`${url}/api/public/setup`)} -H 'Content-Type: application/json' -d ${quoted(body)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
