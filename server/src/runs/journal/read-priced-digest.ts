import type { Database } from "../../base/database/index.ts";
import type { JournalDigest, Prompt } from "../../engine/index.ts";
import type { Pricer } from "../pricer.ts";
import type { RunRef } from "../run.ts";
import { readDigest } from "./digest-store.ts";

/**
 * Reads the digest of a run's journal, and what is needed to estimate a model call that may have
 * been lost: its model, its price and the size of its prompt.
 */
export async function readPricedDigest(
  { database, pricer }: { readonly database: Database; readonly pricer: Pricer },
  { runId, workspaceId }: RunRef,
): Promise<{ readonly digest: JournalDigest; readonly prompt: Prompt }> {
  const { digest, prompt } = await readDigest(database, runId);
  return { digest, prompt: { ...prompt, priceOf: await pricer({ workspaceId, ...prompt }) } };
}
