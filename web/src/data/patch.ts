import { BeckonError } from "@beckon/client";
import { useState } from "react";
import { isEqual, mergeFields } from "../ui/index.ts";
import { changesOf } from "./changes.ts";
import { isOutcomeUnknown, isStale } from "./errors.ts";

/** The functions that read and change a resource with versions. */
export interface Patching<Resource extends { version: number | string }, Changes extends object> {
  readonly read: () => Promise<Resource>;
  /**
   * Sends only the changes. `base` is the resource on which they are based, and `ifMatch` its
   * version.
   */
  readonly write: (
    changes: Partial<Changes>,
    ifMatch: Resource["version"],
    base: Resource,
  ) => Promise<Resource>;
  /** Called with the resource each time the server has returned it. */
  readonly onRead: (resource: Resource) => void;
  /**
   * Names of fields that contain an object. The objects are merged field by field. Default: none.
   */
  readonly parts?: readonly (keyof Changes & string)[];
}

/** The state of saving, which the screen shows. */
export type PatchState<Resource, Changes> =
  | { readonly name: "idle" }
  | { readonly name: "saving" }
  | { readonly name: "saved"; readonly resource: Resource }
  /** The response was lost. The resource is being refetched. */
  | { readonly name: "unknown" }
  /** The response was lost, and the server does not have the changes. */
  | { readonly name: "not saved" }
  | { readonly name: "failed"; readonly thrown: unknown }
  /**
   * Someone else changed the same fields, or kept saving during the automatic merges. Show a
   * `MergeDialog`, then call `resolve`.
   */
  | {
      readonly name: "conflict";
      readonly base: Resource;
      readonly theirs: Resource;
      readonly yours: Partial<Changes>;
    };

/**
 * Maximum number of automatic merges in one save. More than one can be necessary, because someone
 * else can save again during a merge. If they do so during the last one, the person must decide, in
 * the state `conflict`.
 */
const maxMerges = 3;

/**
 * Returns the state of saving, and functions that save changes of a resource with If-Match. Changes
 * count as saved only after the server has confirmed them. If someone else has changed other
 * fields, the changes are merged. If someone else has changed the same fields, the state `conflict`
 * lists them for a `MergeDialog`. If the response is lost, the resource is refetched.
 */
export function usePatch<Resource extends { version: number | string }, Changes extends object>({
  read,
  write,
  onRead,
  parts = [],
}: Patching<Resource, Changes>) {
  type State = PatchState<Resource, Changes>;
  const [state, setState] = useState<State>({ name: "idle" });

  const steps = { read, write, onRead, parts, onUnknown: () => setState({ name: "unknown" }) };

  const save = async (base: Resource, changes: Partial<Changes>): Promise<State> => {
    setState({ name: "saving" });
    const next = await savePatch(steps, base, changes).catch(
      (thrown: unknown): State => ({ name: "failed", thrown }),
    );
    if (next.name === "saved") onRead(next.resource);
    setState(next);
    return next;
  };

  return {
    state,
    save,
    /** Saves the result of `MergeDialog` after a conflict. */
    resolve: async (merged: object): Promise<State> => {
      if (state.name !== "conflict") return state;
      const { theirs, yours } = state;
      const changes = changesOf<Changes>(theirs, pick(merged, yours));
      if (Object.keys(changes).length > 0) return save(theirs, changes);
      // All of the person's changes were dropped in the merge. No PATCH is sent, because an empty
      // one would create a version.
      const kept: State = { name: "saved", resource: theirs };
      setState(kept);
      return kept;
    },
    reset: () => setState({ name: "idle" }),
  };
}

/**
 * Saves changes. If someone else has changed other fields, merges and sends again, at most
 * `maxMerges` times. If the response is lost, reads the resource to see whether it has the changes.
 * @param merges number of merges so far; only the recursion passes it
 * @throws what `read` throws
 */
export async function savePatch<
  Resource extends { version: number | string },
  Changes extends object,
>(
  patching: Patching<Resource, Changes> & {
    /** Called when the response is lost, before the resource is refetched. */
    readonly onUnknown: () => void;
  },
  base: Resource,
  changes: Partial<Changes>,
  merges = 0,
): Promise<PatchState<Resource, Changes>> {
  const { read, write, onRead, parts = [], onUnknown } = patching;
  try {
    return { name: "saved", resource: await write(changes, base.version, base) };
  } catch (thrown) {
    if (isStale(thrown)) {
      const theirs = await read();
      onRead(theirs);
      const { merged, conflicts } = mergeFields({ ...base }, { ...theirs }, changes, parts);
      const conflict = { name: "conflict", base, theirs, yours: changes } as const;
      if (conflicts.length > 0) return conflict;
      const left = changesOf<Changes>(theirs, pick(merged, changes));
      if (Object.keys(left).length === 0) return { name: "saved", resource: theirs };
      return merges < maxMerges ? savePatch(patching, theirs, left, merges + 1) : conflict;
    }
    if (!isOutcomeUnknown(thrown)) return { name: "failed", thrown };
    onUnknown();
    const now = await read();
    onRead(now);
    const isSaved = Object.entries(changes).every(([field, value]) =>
      isEqual((now as Record<string, unknown>)[field], value),
    );
    if (isSaved) return { name: "saved", resource: now };
    // If the version has changed, the changes may be saved although the fields differ: the server
    // does not return secrets, and it trims texts. So this is not reported as `not saved`.
    return now.version === base.version ? { name: "not saved" } : { name: "failed", thrown };
  }
}

/** What to say in the state `not saved`. */
export const notSavedText = "The response was lost, and the changes are not saved. Save again.";

/**
 * Returns the saved resource; undefined in the states without a result, such as `conflict`.
 * @throws the error of the failed save, or an error with `notSavedText`
 */
export function savedResource<Resource, Changes>(
  state: PatchState<Resource, Changes>,
): Resource | undefined {
  if (state.name === "failed") throw state.thrown;
  if (state.name === "not saved")
    throw new BeckonError({ code: "not_saved", message: notSavedText });
  return state.name === "saved" ? state.resource : undefined;
}

/** Returns the merged values of the fields that the person changed. */
function pick<Changes extends object>(merged: object, yours: Partial<Changes>): Changes {
  return Object.fromEntries(Object.entries(merged).filter(([field]) => field in yours)) as Changes;
}
