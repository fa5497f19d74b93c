import { bindingFor, createReEncrypt } from "../../base/secrets/index.ts";
import { ownerOfSecret } from "../records/index.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly origins: string[];
}

/** Re-encrypts the secrets of all agents' tools with the new master key. */
export const reEncryptToolSecrets = createReEncrypt<Row>({
  table: "agent_secrets",
  column: "sealed",
  key: { id: "text", workspace_id: "text" },
  otherColumns: ["agent_id", "origins"],
  bindingOf: ({ id, workspace_id, agent_id, origins }) =>
    bindingFor(ownerOfSecret({ workspaceId: workspace_id, agentId: agent_id, id }), origins),
});
