import { useNavigate } from "@tanstack/react-router";

/** The search parameters of a URL. A parameter that is undefined is absent. */
export type SearchTexts = Readonly<Record<string, string | undefined>>;

interface ChangeOptions {
  /** Whether the Back button returns to the previous values. Default false. */
  readonly push?: boolean;
  /** Whether the page stays scrolled where it is. Default false: it scrolls to its top. */
  readonly keepsScroll?: boolean;
}

/**
 * Returns a function that changes some search parameters of the URL. It keeps the other parameters
 * as they are in the URL when it is called, not as they were in the last rendering. Otherwise the
 * second of two quick changes would undo the first.
 */
export function useChangeSearch() {
  const navigate = useNavigate();
  /** @param change the new values, or a function that returns them from the present ones. */
  return (
    change: SearchTexts | ((now: SearchTexts) => SearchTexts),
    { push = false, keepsScroll = false }: ChangeOptions = {},
  ) =>
    void navigate({
      to: ".",
      search: ((now: SearchTexts) => ({
        ...now,
        ...(typeof change === "function" ? change(now) : change),
      })) as never,
      replace: !push,
      resetScroll: !keepsScroll,
    });
}

/**
 * Returns a function that replaces all search parameters of the URL by the name of the open dialog.
 * The page stays scrolled where it is, so that the focus returns to a visible button when the
 * dialog closes.
 */
export function useShowDialog() {
  const navigate = useNavigate();
  /** @param search the parameters that name the dialog; none closes it. */
  return (search: Readonly<Record<string, string>>) =>
    void navigate({ to: ".", search: search as never, replace: true, resetScroll: false });
}
