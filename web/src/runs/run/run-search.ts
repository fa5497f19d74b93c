import { useSearch } from "@tanstack/react-router";
import { type SearchTexts, useChangeSearch } from "../../ui/index.ts";

const tabs = ["input", "output", "journal", "deliveries"] as const;
const views = ["rendered", "text", "json"] as const;

/** The tabs below the timeline. */
export type RunTab = (typeof tabs)[number];
/** The ways in which texts can be shown. */
export type TextView = (typeof views)[number];

/** The search parameters of the run page. */
export interface RunSearch {
  /**
   * Sequence number of the journal entry whose row is selected. `now`: the last row, for a model
   * call in progress, which has no journal entry yet. Undefined: the page chooses the row; on a
   * phone, it then shows no detail.
   */
  readonly seq: number | "now" | undefined;
  /** Undefined: the page chooses the tab. */
  readonly tab: RunTab | undefined;
  /** How the detail of a step shows texts. */
  readonly view: TextView;
  /** How the input and the output of the run are shown. */
  readonly as: TextView;
  /** True if idle times in the timeline are shortened. */
  readonly fold: boolean;
  /** True if the dialog is open that compares this retry with the earlier run. */
  readonly compare: boolean;
}

/** Parses the search parameters of the run page. Unknown values count as absent. */
function parseRunSearch(search: SearchTexts): RunSearch {
  const seq = /^[1-9]\d{0,8}$/.test(search.seq ?? "") ? Number(search.seq) : undefined;
  return {
    seq: search.seq === "now" ? "now" : seq,
    tab: tabs.find((tab) => tab === search.tab),
    view: views.find((view) => view === search.view) ?? "rendered",
    as: views.find((view) => view === search.as) ?? "rendered",
    fold: search.fold === "1",
    compare: search.compare === "1",
  };
}

/** The inverse of `parseRunSearch`. Default values become undefined, so that the URL is short. */
function textsOf({ seq, tab, view, as, fold, compare }: RunSearch): SearchTexts {
  return {
    seq: seq === undefined ? undefined : String(seq),
    tab,
    view: view === "rendered" ? undefined : view,
    as: as === "rendered" ? undefined : as,
    fold: fold ? "1" : undefined,
    compare: compare ? "1" : undefined,
  };
}

/** Returns the search parameters, and a function that changes some of them. */
export function useRunSearch() {
  const search: SearchTexts = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const change = (changed: Partial<RunSearch>, history: "push" | "replace" | "close" = "replace") =>
    changeSearch((now) => textsOf({ ...parseRunSearch(now), ...changed }), {
      push: history === "push",
      closes: history === "close",
      keepsScroll: true,
    });
  return { ...parseRunSearch(search), change };
}
