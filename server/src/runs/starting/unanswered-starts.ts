import { ShortLivedMap } from "../../base/short-lived-map.ts";
import type { RunRef } from "../run.ts";

/** A start whose statement is in progress, perhaps on a dead connection, while the run it wrote can be claimed. */
export interface UnansweredStart {
  /** The caller was told that nothing was started. */
  refused: boolean;
  /** A claim of this process has found the run: it was started. */
  claimed: (RunRef & { readonly agentId: string }) | undefined;
  /** Resolves when the start has its answer or, refused, when nothing is left of it but a cancelled run. */
  readonly settled: Promise<void>;
}

/** Starts that the database has not answered yet, by run id. */
export type UnansweredStarts = ShortLivedMap<UnansweredStart>;

/** Creates the table of starts that the database has not answered yet. */
export function createUnansweredStarts(): UnansweredStarts {
  return new ShortLivedMap();
}
