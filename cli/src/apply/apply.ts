import {
  type BeckonClient,
  BeckonError,
  type CreateTriggerBody,
  type ImportAgentsBody,
  type Trigger,
} from "@beckon/client";
import { exitCodes } from "../exit-codes.ts";
import { CommandFailure } from "../terminal.ts";
import { withMessage } from "../with-message.ts";
import { type Change, idsByName } from "./plan.ts";
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
 * @param warn called with each warning about a trigger that was changed
 * @throws CommandFailure if another program has created an agent with the same name meanwhile
 */
export async function* apply(
  client: BeckonClient,
  changes: readonly Change[],
  warn: (text: string) => void,
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
    await requireUniqueNames(client, added, signal);
  }
  for (const change of changes) {
    if (change.action === "create") continue;
    const { name, id, fields } = change;
    if (change.action === "none") {
      yield { name, id, action: "unchanged", fields, secrets_needed: [] };
      continue;
    }
    const inFront = (text: string) => `The agent ${JSON.stringify(name)}: ${text}`;
    const secrets_needed = await update(
      client,
      change,
      (text) => warn(inFront(text)),
      signal,
    ).catch(named(inFront));
    yield { name, id, action: "updated", fields, secrets_needed };
  }
}

/**
 * Names of agents need not be unique, so another `apply` at the same time can create the same
 * agents. The next `apply` would reject them.
 */
async function requireUniqueNames(
  client: BeckonClient,
  added: readonly AgentInFile[],
  signal: AbortSignal,
): Promise<void> {
  for (const [name, ids] of await idsByName(client, added, signal)) {
    if (ids.length < 2) continue;
    throw new CommandFailure(
      "conflict",
      exitCodes.failed,
      `${ids.length} agents have the name ${JSON.stringify(name)} now: ${ids.join(", ")}. ` +
        "Another program has created one at the same time. Delete all but one, and repeat the " +
        "command.",
    );
  }
}

/** Updates an agent and its triggers. @returns paths of sender secrets that triggers still need */
async function update(
  client: BeckonClient,
  change: Exclude<Change, { action: "create" }>,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { id, body, version, pause, newTriggers, changedTriggers } = change;
  // Pauses first and resumes last, so that after an error, the agent is paused if it is to be
  // paused or was paused before. A pause makes no new version, so `ifMatch` still matches.
  if (pause.request === "pause") {
    const reason = pause.reason === null ? {} : { reason: pause.reason };
    await client.agents.pause(id, reason, { signal });
  }
  if (Object.keys(body).length > 0)
    await client.agents.update(id, body, { ifMatch: `"${version}"`, signal });
  const secretsNeeded: string[] = [];
  const noteSecret = (index: number, { receiving, sender_secret_set: isSet }: Trigger) => {
    const isVerified = (receiving?.verification.kind ?? "none") !== "none";
    if (isVerified && !isSet) secretsNeeded.push(`triggers.${index}.secret`);
  };
  for (const { index, body } of newTriggers)
    noteSecret(index, await client.triggers.create(id, body as CreateTriggerBody, { signal }));
  for (const { index, body, version: triggerVersion, id: triggerId } of changedTriggers) {
    const options = { ifMatch: `"${triggerVersion}"`, signal };
    const updated = await client.triggers.update(id, triggerId, body, options);
    noteSecret(index, updated);
    for (const { part, message, line } of updated.warnings) {
      const position = line === null ? part : `${part}, line ${line}`;
      warn(`The trigger ${JSON.stringify(body.name)}, ${position}: ${message}`);
    }
  }
  if (pause.request === "resume") await client.agents.resume(id, { signal });
  return secretsNeeded;
}

/** Returns a function for `catch` that changes the message of an error that Beckon returned. */
function named(change: (message: string) => string) {
  return (thrown: unknown): never => {
    // An error without a status, for example a lost connection, does not concern the agent, so its
    // message is not changed.
    if (!(thrown instanceof BeckonError) || thrown.status === undefined) throw thrown;
    throw withMessage(thrown, change(thrown.message));
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
