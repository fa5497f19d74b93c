import { useEffect, useEffectEvent, useState } from "react";
import type { RunSearch, useRunSearch } from "./run-search.ts";

type Seq = NonNullable<RunSearch["seq"]>;

/** A selection that the URL does not have yet. */
interface Move {
  readonly seq: Seq;
  /** True from the time when the URL is changed. The page is rendered with the new URL later. */
  readonly isWritten: boolean;
  /** `?seq=` before the URL was changed. */
  readonly before: RunSearch["seq"];
}

/** Time after the last move until the URL is changed. */
const writeDelayMs = 200;

/** The keys that move the selection (see `Waterfall`). Other keys can lead to another page. */
const moveKeys = ["ArrowDown", "ArrowUp", "Home", "End", "]"];

/**
 * Returns `?seq=`, and `move`, which selects another entry at once but changes the URL only after
 * the last of several moves. Browsers limit how often a page changes its URL: with a change for
 * each repeat of a held key, Safari throws after some seconds, and the router then never changes
 * the URL again. The URL is also changed before the person can leave the page, so that Back leads
 * to the selected entry. `cancelMove` keeps the URL as it is.
 */
export function useSelectedSeq({ seq, change }: ReturnType<typeof useRunSearch>) {
  const [move, setMove] = useState<Move>();
  if (move?.isWritten && seq !== move.before) setMove(undefined);

  const write = useEffectEvent(() => {
    if (move === undefined) return;
    setMove({ ...move, isWritten: true, before: seq });
    change({ seq: move.seq });
  });
  useEffect(() => {
    if (move === undefined || move.isWritten) return;
    const timer = setTimeout(() => write(), writeDelayMs);
    const done = new AbortController();
    const options = { capture: true, signal: done.signal };
    addEventListener("pointerdown", () => write(), options);
    addEventListener("keydown", ({ key }) => moveKeys.includes(key) || write(), options);
    // The URL is already that of another history entry, which must not be changed.
    addEventListener("popstate", () => setMove(undefined), options);
    return () => {
      clearTimeout(timer);
      done.abort();
    };
  }, [move]);

  return {
    seq: move === undefined ? seq : move.seq,
    move: (to: Seq) => setMove({ seq: to, isWritten: false, before: seq }),
    // A written move is kept until the page is rendered with the new URL. Otherwise the page would
    // show the entry before it for a moment.
    cancelMove: () => setMove((now) => (now?.isWritten ? now : undefined)),
  };
}
