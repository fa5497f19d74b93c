import {
  boundPlace,
  type Queryable,
  type Resealed,
  type Resealing,
  resealColumn,
} from "../../base/secrets/index.ts";
import { ownerOfSecret } from "../records/index.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly origins: string[];
}

/** Re-encrypts the secrets of all agents' tools with the new master key. */
export function reEncryptToolSecrets(client: Queryable, keys: Resealing): Promise<Resealed> {
  return resealColumn<Row>(
    client,
    {
      table: "agent_secrets",
      column: "sealed",
      key: { id: "text", workspace_id: "text" },
      beside: ["agent_id", "origins"],
      placeOf: ({ id, workspace_id, agent_id, origins }) =>
        boundPlace(ownerOfSecret({ workspaceId: workspace_id, agentId: agent_id, id }), origins),
    },
    keys,
  );
}
