import { createReEncrypt } from "../base/secrets/index.ts";
import { bindingOfToken } from "./binding-of-token.ts";

interface Row {
  readonly hash: Buffer;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly trigger_id: string | null;
}

/** Re-encrypts the tokens of all workspaces with the new master key. */
export const reEncryptTokens = createReEncrypt<Row>({
  table: "tokens",
  column: "sealed",
  key: { hash: "bytea" },
  otherColumns: ["workspace_id", "agent_id", "trigger_id"],
  bindingOf: ({ hash, workspace_id: workspaceId, agent_id: agentId, trigger_id: triggerId }) =>
    bindingOfToken({
      workspaceId,
      subject: { agentId, ...(triggerId === null ? {} : { triggerId }) },
      hash,
    }),
});
