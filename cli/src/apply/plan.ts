import type { BeckonClient, Trigger, TriggerPreset, UpdateAgentBody } from "@beckon/client";
import { maxInputBytes } from "@beckon/contract";
import { UsageError } from "../terminal.ts";
import { isSameInAgent, isSameInTrigger, withStoredSecrets } from "./compare.ts";
import { comparePause, type PauseChange } from "./compare-pause.ts";
import { type AgentInFile, isObject, type TriggerInFile } from "./read-document.ts";

/** What must be done to make an agent of the workspace equal to the agent in the file. */
export type Change =
  | { readonly action: "create"; readonly agent: AgentInFile }
  | {
      readonly action: "update" | "none";
      readonly name: string;
      readonly id: string;
      /** The version that was compared; the update is rejected if there is a newer one. */
      readonly version: number;
      /** Names of the fields that differ, including `paused`, `pause_reason` and `triggers`. */
      readonly fields: readonly string[];
      readonly body: UpdateAgentBody;
      readonly pause: PauseChange;
      readonly newTriggers: readonly NewTrigger[];
      readonly changedTriggers: readonly ChangedTrigger[];
    };

/** A trigger of the file that the agent does not have. */
interface NewTrigger {
  /** Position among the agent's triggers in the file, from 0. */
  readonly index: number;
  readonly body: TriggerInFile;
}

/** A trigger of the file that differs from the stored one. */
interface ChangedTrigger extends NewTrigger {
  readonly id: string;
  /** The version that was compared; the update is rejected if there is a newer one. */
  readonly version: string;
}

/**
 * Fields of an exported agent that are not part of the request that updates it. Agents are found by
 * `name`. `paused`, `pause_reason` and `triggers` are compared and changed separately, because they
 * have their own requests.
 */
const separate = new Set(["name", "paused", "pause_reason", "triggers"]);
/** Objects that an update merges: fields that it does not name keep their values. */
const merged = new Set(["model_settings", "limits"]);

/**
 * Compares the agents of a file with those of the workspace that have the same names. Sends no
 * request that changes the workspace.
 * @throws UsageError if several agents of the workspace, or several triggers of an agent, have the
 *   same name and this name is in the file; if a secret is neither in the file nor stored; or if
 *   the new agents are too large for the request that creates them
 */
export async function plan(
  client: BeckonClient,
  agents: readonly AgentInFile[],
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const ids = await idsByName(client, agents, signal);
  const changes: Change[] = [];
  for (const agent of agents) {
    const [id, ...others] = ids.get(agent.name) ?? [];
    if (others.length > 0) {
      throw new UsageError(
        `${others.length + 1} agents have the name ${JSON.stringify(agent.name)}. Rename all but ` +
          "one, so that the file says which one it means.",
      );
    }
    changes.push(
      id === undefined
        ? { action: "create", agent }
        : await compareAgent(client, agent, id, signal),
    );
  }
  rejectLargeImport(changes);
  return changes;
}

/** Returns the ids of the agents of the workspace that have the name of one of `agents`. */
export async function idsByName(
  client: BeckonClient,
  agents: readonly AgentInFile[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = new Map<string, string[]>(agents.map(({ name }) => [name, []]));
  for await (const { id, name } of client.agents.list({ limit: 100 }, { signal }))
    ids.get(name)?.push(id);
  return ids;
}

/** @throws UsageError if the request that creates the new agents would be too large. */
function rejectLargeImport(changes: readonly Change[]): void {
  const agents = changes.flatMap((change) => (change.action === "create" ? [change.agent] : []));
  const bytes = Buffer.byteLength(JSON.stringify({ beckon: 1, agents }));
  if (bytes > maxInputBytes) {
    throw new UsageError(
      `The new agents of the file have ${bytes} bytes as JSON; the maximum is ${maxInputBytes}. ` +
        "Apply some of them first, from a file of their own.",
    );
  }
}

async function compareAgent(
  client: BeckonClient,
  agent: AgentInFile,
  id: string,
  signal: AbortSignal,
): Promise<Change> {
  const current = await client.agents.get(id, { signal });
  const [exported] = (await client.agents.export(id, { signal })).agents;
  if (exported === undefined) throw new UsageError(`The agent ${id} was deleted. Try again.`);
  const before: Record<string, unknown> = { ...exported };
  const fields = Object.keys(agent).filter((field) => {
    const [given, old] = [agent[field], before[field]];
    const updated = merged.has(field) && isObject(given) ? { ...(old ?? {}), ...given } : given;
    return !separate.has(field) && !isSameInAgent(field, updated, old);
  });
  const body = Object.fromEntries(
    fields.map((field) => [
      field,
      // Only tools have secrets. In other fields, such as `metadata`, `{"secret": null}` is data
      // and must not be replaced.
      field === "tools" ? withStoredSecrets(agent.tools, current.tools, field) : agent[field],
    ]),
  );
  const pause = comparePause(agent, exported);
  const triggers =
    agent.triggers === undefined || agent.triggers.length === 0
      ? { newTriggers: [], changedTriggers: [] }
      : await compareTriggers(client, agent, id, signal);
  const all = [
    ...fields,
    ...pause.fields,
    ...(triggers.newTriggers.length + triggers.changedTriggers.length > 0 ? ["triggers"] : []),
  ];
  return {
    action: all.length === 0 ? "none" : "update",
    name: agent.name,
    id,
    version: current.version,
    fields: all,
    body,
    pause,
    ...triggers,
  };
}

async function compareTriggers(
  client: BeckonClient,
  { name, triggers = [] }: AgentInFile,
  id: string,
  signal: AbortSignal,
) {
  const stored: Trigger[] = [];
  for await (const trigger of client.triggers.list(id, { limit: 100 }, { signal }))
    stored.push(trigger);
  const presets = new Map<unknown, TriggerPreset["receiving"]>();
  if (triggers.some(({ receiving }) => isObject(receiving) && receiving.preset)) {
    for await (const preset of client.triggerPresets.list({ signal }))
      presets.set(preset.name, preset.receiving);
  }
  const newTriggers: NewTrigger[] = [];
  const changedTriggers: ChangedTrigger[] = [];
  for (const [index, trigger] of triggers.entries()) {
    const [found, ...others] = stored.filter((each) => each.name === trigger.name);
    if (others.length > 0) {
      throw new UsageError(
        `${others.length + 1} triggers of ${JSON.stringify(name)} have the name ` +
          `${JSON.stringify(trigger.name)}. Rename all but one.`,
      );
    }
    if (found === undefined) {
      newTriggers.push({ index, body: trigger });
      continue;
    }
    const before: Record<string, unknown> = { ...found };
    const { receiving } = trigger;
    // If the file names a preset, the server takes the fields that the file omits from the preset.
    const completed = isObject(receiving)
      ? { ...trigger, receiving: { ...presets.get(receiving.preset), ...receiving } }
      : trigger;
    const isChanged = Object.entries(completed).some(
      ([field, value]) => !isSameInTrigger(field, value, before[field]),
    );
    if (isChanged)
      changedTriggers.push({ index, body: trigger, id: found.id, version: found.version });
  }
  return { newTriggers, changedTriggers };
}
