import { useState } from "react";
import { isEqual, mergeFields } from "../ui/index.ts";
import { changesOf } from "./changes.ts";
import { isOutcomeUnknown, isStale } from "./errors.ts";

/** How a resource with versions is read and changed. */
export interface Patching<Resource extends { version: number }, Changes extends object> {
  readonly read: () => Promise<Resource>;
  /** Sends only the changes. `ifMatch` is the version that they are based on. */
  readonly write: (changes: Partial<Changes>, ifMatch: number) => Promise<Resource>;
  /** Called with each state of the resource that the server has confirmed. */
  readonly onRead: (resource: Resource) => void;
}

/** What the person sees of a save. */
export type PatchState<Resource, Changes> =
  | { readonly name: "idle" }
  | { readonly name: "saving" }
  | { readonly name: "saved"; readonly resource: Resource }
  /** The response was lost. The resource is being read again. */
  | { readonly name: "unknown" }
  /** The response was lost, and the server does not have the changes. */
  | { readonly name: "not saved" }
  | { readonly name: "failed"; readonly thrown: unknown }
  /** Somebody else changed the same fields. Show a `MergeDialog`, then call `resolve`. */
  | {
      readonly name: "conflict";
      readonly base: Resource;
      readonly theirs: Resource;
      readonly yours: Partial<Changes>;
    };

/** A resource can change again while it is merged. After this many times the person decides. */
const maxMerges = 3;

/**
 * Saves changes of a resource with If-Match. Nothing counts as saved before the server has said so.
 * If somebody else has changed other fields, the changes are merged; if the same ones, the state
 * `conflict` lists them for a `MergeDialog`. If the response is lost, the resource is read again.
 */
export function usePatch<Resource extends { version: number }, Changes extends object>({
  read,
  write,
  onRead,
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
    const { merged, conflicts } = mergeFields({ ...base }, { ...theirs }, yours);
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
    /** Continues after a conflict with what `MergeDialog` gives. */
    resolve: async (merged: object): Promise<State> => {
      if (state.name !== "conflict") return state;
      const { theirs, yours } = state;
      const changes = changesOf<Changes>(theirs, pick(merged, yours));
      if (Object.keys(changes).length > 0) return save(theirs, changes);
      // They kept only what the server has: an empty PATCH would create a version.
      const kept: State = { name: "saved", resource: theirs };
      setState(kept);
      return kept;
    },
    reset: () => setState({ name: "idle" }),
  };
}

/** Returns the merged values of the fields that the person changed. */
function pick<Changes extends object>(merged: object, yours: Partial<Changes>): Changes {
  return Object.fromEntries(Object.entries(merged).filter(([field]) => field in yours)) as Changes;
}
