import {
  type BeckonClient,
  BeckonError,
  type CreateTriggerBody,
  type ImportAgentsBody,
} from "@beckon/client";
import type { Change } from "./plan.ts";
import type { AgentInFile } from "./read-document.ts";

/** What was done for one agent of the file. */
export interface Applied {
  readonly name: string;
  readonly id: string;
  readonly action: "created" | "updated" | "unchanged";
  /** Names of the fields that were changed. */
  readonly fields: readonly string[];
  /** Paths of secrets that the agent still needs. */
  readonly secrets_needed: readonly string[];
}

/**
 * Makes the changes of a plan. First creates all new agents with one request, which creates none of
 * them if one is not valid. Then updates one agent after the other. After an error, the changes
 * that were already made remain, so the next `apply` of the same file makes only the remaining
 * changes.
 */
export async function* apply(
  client: BeckonClient,
  changes: readonly Change[],
  signal: AbortSignal,
): AsyncGenerator<Applied> {
  const added = changes.flatMap((change) => (change.action === "create" ? [change.agent] : []));
  if (added.length > 0) {
    const body = { beckon: 1, agents: added } as unknown as ImportAgentsBody;
    const { agents } = await client.agents
      .import(body, { signal })
      .catch(named((text) => nameAgents(text, added)));
    for (const { id, name, secrets_needed } of agents)
      yield { name, id, action: "created", fields: [], secrets_needed };
  }
  for (const change of changes) {
    if (change.action === "create") continue;
    const { name, id, fields } = change;
    if (change.action === "update") {
      const inFront = (text: string) => `The agent ${JSON.stringify(name)}: ${text}`;
      await update(client, change, signal).catch(named(inFront));
    }
    const action = change.action === "update" ? "updated" : "unchanged";
    yield { name, id, action, fields, secrets_needed: [] };
  }
}

async function update(
  client: BeckonClient,
  change: Exclude<Change, { action: "create" }>,
  signal: AbortSignal,
): Promise<void> {
  const { id, body, version, pause, newTriggers, changedTriggers } = change;
  if (Object.keys(body).length > 0)
    await client.agents.update(id, body, { ifMatch: `"${version}"`, signal });
  if (pause.request === "pause") {
    const reason = pause.reason === null ? {} : { reason: pause.reason };
    await client.agents.pause(id, reason, { signal });
  }
  if (pause.request === "resume") await client.agents.resume(id, { signal });
  for (const trigger of newTriggers)
    await client.triggers.create(id, trigger as CreateTriggerBody, { signal });
  for (const trigger of changedTriggers) {
    const ifMatch = `"${trigger.version}"`;
    await client.triggers.update(id, trigger.id, trigger.body, { ifMatch, signal });
  }
}

/** Returns a function for `catch` that changes the message of an error that Beckon returned. */
function named(change: (message: string) => string) {
  return (thrown: unknown): never => {
    // An error without a status, for example a lost connection, does not concern the agent, so its
    // message is not changed.
    if (!(thrown instanceof BeckonError) || thrown.status === undefined) throw thrown;
    const { code, message, status, retryAfter } = thrown;
    throw new BeckonError({ code, status, retryAfter, message: change(message), cause: thrown });
  };
}

/**
 * Replaces positions in an error message, such as `agents.0` in `agents.0.model`, by the names of
 * the agents. The server counts positions in the request, which has only the new agents, so they
 * differ from the positions in the file.
 */
function nameAgents(message: string, agents: readonly AgentInFile[]): string {
  return agents.reduce((text, { name }, index) => {
    const quoted = () => JSON.stringify(name);
    return text
      .replaceAll(`agents.${index} (${name})`, quoted)
      .replaceAll(`agents.${index}.`, () => `${quoted()}.`);
  }, message);
}
