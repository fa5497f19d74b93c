import { type Queryable, type Resealed, type Resealing, resealColumn } from "../secrets/index.ts";
import { placeOfAnswer } from "./place-of-answer.ts";

interface Row {
  readonly workspace_id: string;
  readonly scope: string;
  readonly key: string;
}

/** Re-encrypts the stored responses with the new master key. */
export function resealAnswers(client: Queryable, keys: Resealing): Promise<Resealed> {
  return resealColumn<Row>(
    client,
    {
      table: "idempotency",
      column: "answer",
      key: { workspace_id: "text", scope: "text", key: "text" },
      placeOf: placeOfAnswer,
    },
    keys,
  );
}
