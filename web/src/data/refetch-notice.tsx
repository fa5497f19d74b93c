import { type ReactNode, useSyncExternalStore } from "react";
import { Banner, hasUnsavedChanges, Problem, subscribeToUnsaved, useAsOf } from "../ui/index.ts";
import { isNotFound } from "./errors.ts";

/**
 * Returns whether a screen must no longer show what it has read, because a refetch has found that
 * it does not exist. False while a form on the page has unsaved changes, which would be lost.
 * @param error of the last refetch; null if it succeeded
 */
export function useIsGone(error: unknown): boolean {
  return useSyncExternalStore(subscribeToUnsaved, () => isNotFound(error) && !hasUnsavedChanges());
}

interface RefetchNoticeProps {
  /** The resource: "agent". */
  readonly noun: string;
  readonly query: {
    /** Error of the last refetch; null if it succeeded. */
    readonly error: unknown;
    /** Unix time in ms. */
    readonly dataUpdatedAt: number;
    readonly refetch: () => unknown;
  };
  /** A link to where a deleted resource can be restored. */
  readonly restore?: ReactNode;
}

/** Says that a screen shows old data, because the last refetch failed or found nothing. */
export function RefetchNotice({ noun, query, restore }: RefetchNoticeProps) {
  const { error, dataUpdatedAt, refetch } = query;
  const asOf = useAsOf(dataUpdatedAt);
  if (error === null) return null;
  if (isNotFound(error))
    return (
      <Banner tone="warning" action={restore}>
        {`This ${noun} was deleted. Your unsaved changes are still here, but they cannot be saved.`}
      </Banner>
    );
  return <Problem error={error} title={`This is the ${noun} as of ${asOf}.`} onRetry={refetch} />;
}
