import {
  type Queryable,
  type Resealed,
  type Resealing,
  resealColumn,
} from "../base/secrets/index.ts";
import { placeOfKey } from "./provider.ts";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly api_key_url: string | null;
}

/** Encrypts the keys of all providers with the new master key. */
export function resealProviderKeys(client: Queryable, keys: Resealing): Promise<Resealed> {
  return resealColumn<Row>(
    client,
    {
      table: "providers",
      column: "api_key_sealed",
      key: { id: "text", workspace_id: "text" },
      beside: ["api_key_url"],
      placeOf: placeOfKey,
    },
    keys,
  );
}
