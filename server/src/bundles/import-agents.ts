import { type AgentInDocument, agentsDocument } from "@beckon/contract";
import { addFromDocument } from "../agents/index.ts";
import { type Context, permit, permitAllAgents } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { readYamlBody } from "../base/yaml/index.ts";
import { addTrigger } from "../triggers/index.ts";

export interface ImportedAgent {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  /** The door adds their URLs, since only it knows its own address. */
  readonly triggers: readonly {
    readonly id: string;
    readonly name: string;
    readonly token: string;
  }[];
  readonly secrets_needed: readonly string[];
}

/**
 * Makes the agents of a document with their triggers, all or none. They are new ones, whatever is there already: with ids and tokens of
 * their own, in the document's order.
 */
export async function importAgents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<Once<{ agents: ImportedAgent[] }>> {
  permit(ctx, "agents:write");
  permitAllAgents(ctx);
  const body = await readYamlBody(input.body);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const document = parseBody(agentsDocument, body);
      if (document.agents.some(({ triggers }) => triggers.length > 0))
        permit(ctx, "triggers:write");
      const ids = ascendingIds("agt", document.agents.length);
      const agents: ImportedAgent[] = [];
      for (const [index, given] of document.agents.entries()) {
        agents.push(
          await naming(index, given, () => importAgent(tx, ctx, ids[index] ?? newId("agt"), given)),
        );
      }
      return { agents };
    }),
  );
}

async function importAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
  given: AgentInDocument,
): Promise<ImportedAgent> {
  const { token, secrets_needed } = await addFromDocument(tx, ctx, agentId, given);
  const ids = ascendingIds("trg", given.triggers.length);
  const triggers: ImportedAgent["triggers"][number][] = [];
  for (const [index, body] of given.triggers.entries()) {
    const trigger = await addTrigger(tx, ctx, { agentId, body, triggerId: ids[index] });
    triggers.push({ id: trigger.id, name: trigger.name, token: trigger.token });
  }
  return { id: agentId, name: given.name, token, triggers, secrets_needed };
}

/** Ids made in one millisecond are in no order of their own, and lists are in that of ids. */
function ascendingIds(prefix: "agt" | "trg", count: number): string[] {
  return Array.from({ length: count }, () => newId(prefix)).sort();
}

/** What is refused about one agent says which. */
async function naming<T>(
  index: number,
  { name }: AgentInDocument,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== "bad_request") throw thrown;
    throw new ApiError(thrown.code, `agents.${index} (${name}): ${thrown.message}`);
  }
}
