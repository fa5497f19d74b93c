import { useNavigate, useRouter } from "@tanstack/react-router";
import { useRef } from "react";

/** The search parameters of a URL. A parameter that is undefined is absent. */
export type SearchTexts = Readonly<Record<string, string | undefined>>;

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** True if the previous history entry has the same path. */
    readonly isWithinPage?: boolean;
  }
}

interface ChangeOptions {
  /** Whether the Back button returns to the previous values. Default false. */
  readonly push?: boolean;
  /**
   * Whether the change closes what a link or an earlier change has opened, for example a dialog. If
   * that has added a history entry, this entry is left. Otherwise the Back button would lead to the
   * page that is shown already. Default false.
   */
  readonly closes?: boolean;
  /** Whether the page stays scrolled where it is. Default false: it scrolls to its top. */
  readonly keepsScroll?: boolean;
}

/**
 * Returns a function that changes some search parameters of the URL. It keeps the other parameters
 * as they are in the URL when it is called, not as they were in the last rendering. Otherwise the
 * second of two quick changes would undo the first.
 */
export function useChangeSearch() {
  const write = useWriteSearch();
  /** @param change the new values, or a function that returns them from the present ones. */
  return (change: SearchTexts | ((now: SearchTexts) => SearchTexts), options: ChangeOptions = {}) =>
    write((now) => ({ ...now, ...(typeof change === "function" ? change(now) : change) }), options);
}

/**
 * Returns a function that replaces all search parameters of the URL by the name of the open dialog.
 * The page stays scrolled where it is, so that the focus returns to a visible button when the
 * dialog closes.
 */
export function useShowDialog() {
  const write = useWriteSearch();
  /** @param search the parameters that name the dialog; none closes it. */
  return (search: Readonly<Record<string, string>>) =>
    write(() => search, { closes: Object.keys(search).length === 0, keepsScroll: true });
}

function useWriteSearch() {
  const navigate = useNavigate();
  const router = useRouter();
  const isGoingBack = useRef(false);
  return (
    search: (now: SearchTexts) => SearchTexts,
    { push = false, closes = false, keepsScroll = false }: ChangeOptions,
  ) => {
    const write = (written: typeof search) =>
      void navigate({
        to: ".",
        search: written as never,
        replace: !push,
        state: push ? { isWithinPage: true } : true,
        resetScroll: !keepsScroll,
      });
    const { history, latestLocation } = router;
    const { isWithinPage, __TSR_index: index } = history.location.state;
    if (!closes || !isWithinPage) return write(search);
    // The browser goes back later. A second step back would leave the page.
    if (isGoingBack.current) return;
    isGoingBack.current = true;
    // The previous entry has the other parameters as they were when this one was opened.
    const closed = search(latestLocation.search);
    const unsubscribe = history.subscribe(() => {
      unsubscribe();
      isGoingBack.current = false;
      // The entry is still the same if the person stays because of unsaved changes.
      if (history.location.state.__TSR_index === index - 1) write(() => closed);
    });
    history.back();
  };
}
