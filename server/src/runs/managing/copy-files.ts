import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import type { CopiedFile } from "../starting/index.ts";
import { findFiles } from "./artifact-store.ts";

/** The input of a retry, and the files that are copied with it. */
interface CopiedInput {
  /** The input with the ids of the copies. */
  readonly input: string;
  readonly files: readonly CopiedFile[];
  /** Whether the input names files, of which the original run has none. */
  readonly lacksFiles: boolean;
}

/**
 * Gives the files of a run that an input names, such as the files of a form, new ids. The run that
 * gets the input needs its own copies: the original ones are deleted with their run.
 */
export async function copyFiles(
  tx: WorkspaceTransaction,
  run: { readonly workspaceId: string; readonly runId: string },
  input: string,
): Promise<CopiedInput> {
  const named = new Set(input.match(fileId));
  if (named.size === 0) return { input, files: [], lacksFiles: false };
  const found = await findFiles(tx, run, [...named]);
  const files = found.map(({ id, bytes }) => ({ id: newId("art"), copyOf: id, bytes }));
  const ids = new Map(files.map(({ id, copyOf }) => [copyOf, id]));
  return {
    input: input.replace(fileId, (id) => ids.get(id) ?? id),
    files,
    lacksFiles: files.length === 0,
  };
}

const fileId = /\bart_[0-9a-z]{26}\b/g;
