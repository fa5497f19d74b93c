import type { TestBeckon } from "./beckon.ts";

/**
 * Returns the id of the first artifact of a run.
 * @throws {Error} the run has none.
 */
export async function artifactOf(
  beckon: Pick<TestBeckon, "call" | "key">,
  runId: string,
  credential = beckon.key,
): Promise<string> {
  const { data } = (await beckon.call(`/runs/${runId}/events`, { credential })).body;
  const found = (data as { data: { artifact_id?: string } }[]).find(
    (event) => event.data.artifact_id !== undefined,
  );
  if (found?.data.artifact_id === undefined) throw new Error(`the run ${runId} has no artifact`);
  return found.data.artifact_id;
}

/** An input so long that demo/echo's answer to it is stored as an artifact. */
export const longInput = "long ".repeat(14_000);
