import { type NavigateOptions, useNavigate } from "@tanstack/react-router";

/**
 * Returns a function to call when an action starts. It remembers the open page and returns a
 * `navigate` function for the end of the action. That function does nothing if the person has
 * opened another page in the meantime, because they would lose what they have typed there.
 */
export function useNavigateFrom() {
  const navigate = useNavigate();
  /**
   * @param area a path without a slash at its end. The pages at this path and below it then count
   *   as one page. Default: the path of the open page, without the pages below it.
   */
  return (area?: string) => {
    const { pathname } = location;
    const isOpen = () =>
      area === undefined
        ? location.pathname === pathname
        : `${location.pathname}/`.startsWith(`${area}/`);
    /** Resolves to false if another page is open, and to true after it has navigated. */
    return async (options: NavigateOptions): Promise<boolean> => {
      if (!isOpen()) return false;
      await navigate(options);
      return true;
    };
  };
}
