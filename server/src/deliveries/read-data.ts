import type { ByteHold } from "../base/byte-budget.ts";
import type { Database } from "../base/database/index.ts";
import { artifactOf, type DeliveredRow, maxBodyBytes, parseEventData } from "./body.ts";
import { type ClaimedDelivery, maxClaimedBytes } from "./claim-statement.ts";
import { readArtifact, readClaimedData } from "./data-store.ts";

/** Thrown if an attempt cannot start now: it does not count, and the delivery is released. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/**
 * Bytes of memory for each byte of large data during an attempt: the artifact's content (1), its
 * JSON and the body as texts of up to 2 bytes a character (4), and the bytes that are sent (1).
 */
const heldPerByte = 6;

/**
 * Returns the event's data of a delivery and, if the data is a reference to an artifact that fits
 * into a body, the artifact's content. Data above 8 KiB, and the content, are read only after their
 * memory was reserved in `hold`.
 * @param hold an empty hold of the delivery's workspace.
 * @param maxWaitMs maximum time to wait for memory.
 * @throws CannotStart if there was no memory in time, if `signal` aborts, or if the delivery has no
 *   data any more.
 */
export async function readData(
  database: Database,
  delivery: ClaimedDelivery,
  hold: ByteHold,
  { signal, maxWaitMs }: { readonly signal: AbortSignal; readonly maxWaitMs: number },
): Promise<{ data: DeliveredRow["data"]; content?: string | undefined }> {
  if (delivery.payload === "thin") return { data: null };
  const reserve = async (bytes: number) => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
    try {
      await hold.enter(Math.min(heldPerByte * bytes, hold.maxBytes), ended);
    } catch (cause) {
      throw new CannotStart("there was no memory for the data", { cause });
    }
  };
  const { data_bytes: bytes } = delivery;
  let json: string | null | undefined = delivery.data;
  if (json === null && bytes !== null) {
    if (bytes > maxClaimedBytes) await reserve(bytes);
    json = await readClaimedData(database, delivery);
    if (json === undefined) throw new CannotStart("the data was deleted");
    if (bytes > maxClaimedBytes) return { data: parseEventData(json) };
  }
  const data = parseEventData(json);
  const artifact = artifactOf({ run_id: delivery.run_id, data });
  if (artifact === undefined || artifact.bytes > maxBodyBytes) return { data };
  await reserve(artifact.bytes);
  return { data, content: await readArtifact(database, delivery, artifact.id) };
}
