import type { BeckonClient } from "@beckon/client";
import { retries } from "./connection.ts";
import { UsageError } from "./terminal.ts";

/**
 * Returns the id of an agent.
 * @param idOrName an id is returned as it is, without a request
 * @throws UsageError if no agent or more than one has this name
 */
export async function findAgentId(
  client: BeckonClient,
  idOrName: string,
  signal: AbortSignal,
): Promise<string> {
  if (/^agt_[0-9a-z]+$/.test(idOrName)) return idOrName;
  const options = { signal, retries };
  const ids: string[] = [];
  for await (const { id, name } of client.agents.list({ search: idOrName }, options))
    if (name === idOrName) ids.push(id);
  const [id, ...others] = ids;
  if (id === undefined) {
    throw new UsageError(
      `No agent has the name ${JSON.stringify(idOrName)}. Give a name as \`beckon agents export\` ` +
        "shows it, or an id (agt_…).",
    );
  }
  if (others.length > 0) {
    throw new UsageError(
      `${ids.length} agents have the name ${JSON.stringify(idOrName)}: ${ids.join(", ")}. ` +
        "Give one of the ids.",
    );
  }
  return id;
}
