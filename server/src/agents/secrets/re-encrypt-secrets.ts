import {
  bindingFor,
  type MasterKeyChange,
  type Queryable,
  type ReEncryption,
  reEncryptColumn,
} from "../../base/secrets/index.ts";
import { ownerOfSecret } from "../records/index.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly origins: string[];
}

/** Re-encrypts the secrets of all agents' tools with the new master key. */
export function reEncryptToolSecrets(
  client: Queryable,
  keys: MasterKeyChange,
): Promise<ReEncryption> {
  return reEncryptColumn<Row>(
    client,
    {
      table: "agent_secrets",
      column: "sealed",
      key: { id: "text", workspace_id: "text" },
      otherColumns: ["agent_id", "origins"],
      bindingOf: ({ id, workspace_id, agent_id, origins }) =>
        bindingFor(ownerOfSecret({ workspaceId: workspace_id, agentId: agent_id, id }), origins),
    },
    keys,
  );
}
