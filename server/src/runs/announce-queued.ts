import type { ProcessMessages } from "../base/database/index.ts";
import type { Capacity, WorkerCalls } from "./executing/index.ts";

interface ClaimCalls {
  readonly capacity: Pick<Capacity, "noteQueued">;
  readonly worker: Pick<WorkerCalls, "claim">;
}

/**
 * Makes this process and the others claim queued runs, since any process with capacity can execute
 * a run that was just queued.
 */
export function announceQueued(
  ports: ClaimCalls & { readonly processMessages: Pick<ProcessMessages, "send"> },
): void {
  wakeClaims(ports);
  ports.processMessages.send({ kind: "queued" });
}

/** Makes this process claim runs that were just queued. */
export function wakeClaims({ capacity, worker }: ClaimCalls): void {
  capacity.noteQueued();
  worker.claim();
}
