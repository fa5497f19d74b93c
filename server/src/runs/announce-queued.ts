import type { ProcessMessages } from "../base/database/index.ts";
import type { Capacity, WorkerCalls } from "./executing/index.ts";

interface ClaimCalls {
  readonly capacity: Pick<Capacity, "noteQueued">;
  readonly worker: Pick<WorkerCalls, "claim">;
}

/**
 * Makes this process and the others claim queued runs, since any process with capacity can execute
 * a run that was just queued.
 * @param workspaceId workspace of the queued runs; undefined if there can be several.
 */
export function announceQueued(
  ports: ClaimCalls & { readonly processMessages: Pick<ProcessMessages, "send"> },
  workspaceId?: string,
): void {
  wakeClaims(ports, workspaceId);
  ports.processMessages.send({ kind: "queued" });
}

/** Makes this process claim runs just queued, unless their workspace has no share left. */
export function wakeClaims({ capacity, worker }: ClaimCalls, workspaceId?: string): void {
  if (capacity.noteQueued(workspaceId)) worker.claim();
}
