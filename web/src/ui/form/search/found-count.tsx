import { formatCount } from "../../../format/index.ts";

/** Maximum number of listed options. Others can be found by typing. */
export const maxListed = 100;

/**
 * Says how many of the found options are not listed, or that nothing was found. It is always
 * rendered and never hidden, because screen readers announce only changes of a visible element.
 */
export function FoundCount({ count }: { readonly count: number }) {
  const more = count - maxListed;
  return (
    <p role="status" className="px-2 py-1.5 text-label text-ink-3 empty:py-0">
      {count === 0 ? "Nothing matches." : ""}
      {more > 0 ? `${formatCount(more)} more: type to find them.` : ""}
    </p>
  );
}
