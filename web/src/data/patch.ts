import { useState } from "react";
import { isEqual, mergeFields } from "../ui/index.ts";
import { changesOf } from "./changes.ts";
import { isOutcomeUnknown, isStale } from "./errors.ts";

/** The functions that read and change a resource with versions. */
export interface Patching<Resource extends { version: number | string }, Changes extends object> {
  readonly read: () => Promise<Resource>;
  /** Sends only the changes. `ifMatch` is the version on which they are based. */
  readonly write: (changes: Partial<Changes>, ifMatch: Resource["version"]) => Promise<Resource>;
  /** Called with the resource each time the server has returned it. */
  readonly onRead: (resource: Resource) => void;
  /** Fields that are objects whose fields are merged one by one. Default: none. */
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
  /** Someone else changed the same fields. Show a `MergeDialog`, then call `resolve`. */
  | {
      readonly name: "conflict";
      readonly base: Resource;
      readonly theirs: Resource;
      readonly yours: Partial<Changes>;
    };

/**
 * Maximum number of automatic merges in one save, because the resource can change again during
 * each. After that the person decides.
 */
const maxMerges = 3;

/**
 * Saves changes of a resource with If-Match. They count as saved only after the server has
 * confirmed them. If someone else has changed other fields, the changes are merged. If someone else
 * has changed the same fields, the state `conflict` lists them for a `MergeDialog`. If the response
 * is lost, the resource is refetched.
 */
export function usePatch<Resource extends { version: number | string }, Changes extends object>({
  read,
  write,
  onRead,
  parts = [],
}: Patching<Resource, Changes>) {
  type State = PatchState<Resource, Changes>;
  const [state, setState] = useState<State>({ name: "idle" });

  const attempt = async (base: Resource, changes: Partial<Changes>, merges = 0): Promise<State> => {
    try {
      return { name: "saved", resource: await write(changes, base.version) };
    } catch (thrown) {
      if (isStale(thrown) && merges < maxMerges) return afterStale(base, changes, merges);
      if (!isOutcomeUnknown(thrown)) return { name: "failed", thrown };
      setState({ name: "unknown" });
      const now = await read();
      onRead(now);
      const isSaved = Object.entries(changes).every(([field, value]) =>
        isEqual((now as Record<string, unknown>)[field], value),
      );
      return isSaved ? { name: "saved", resource: now } : { name: "not saved" };
    }
  };

  const afterStale = async (
    base: Resource,
    yours: Partial<Changes>,
    merges: number,
  ): Promise<State> => {
    const theirs = await read();
    onRead(theirs);
    const { merged, conflicts } = mergeFields({ ...base }, { ...theirs }, yours, parts);
    if (conflicts.length > 0) return { name: "conflict", base, theirs, yours };
    const changes = changesOf<Changes>(theirs, pick(merged, yours));
    if (Object.keys(changes).length === 0) return { name: "saved", resource: theirs };
    return attempt(theirs, changes, merges + 1);
  };

  const save = async (base: Resource, changes: Partial<Changes>): Promise<State> => {
    setState({ name: "saving" });
    const next = await attempt(base, changes).catch(
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

/** What to say in the state `not saved`. */
export const notSavedText = "The response was lost, and the changes are not saved. Save again.";

/**
 * Returns the resource if it was saved; undefined if a `MergeDialog` has to ask first.
 * @throws the error because of which it was not saved.
 */
export function savedResource<Resource, Changes>(
  state: PatchState<Resource, Changes>,
): Resource | undefined {
  if (state.name === "failed") throw state.thrown;
  if (state.name === "not saved") throw new Error(notSavedText);
  return state.name === "saved" ? state.resource : undefined;
}

/** Returns the merged values of the fields that the person changed. */
function pick<Changes extends object>(merged: object, yours: Partial<Changes>): Changes {
  return Object.fromEntries(Object.entries(merged).filter(([field]) => field in yours)) as Changes;
}
