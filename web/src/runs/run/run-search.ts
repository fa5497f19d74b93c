import { useNavigate, useSearch } from "@tanstack/react-router";

const tabs = ["input", "output", "journal", "deliveries"] as const;
const views = ["rendered", "text", "json"] as const;

/** What is shown below the timeline. */
export type RunTab = (typeof tabs)[number];
/** How texts are shown. */
export type TextView = (typeof views)[number];

/** The state of the run page that its URL holds. */
export interface RunSearch {
  /** Journal entry whose row is selected; `now`: the last row, also when later ones follow. */
  readonly seq: number | "now" | undefined;
  readonly tab: RunTab;
  /** How the detail of a step shows texts. */
  readonly view: TextView;
  /** How input and output are shown. */
  readonly as: TextView;
  /** Idle times are shown shortened. */
  readonly fold: boolean;
  /** The dialog that compares it with the run of which it is a retry is open. */
  readonly compare: boolean;
}

/** Parses the search parameters of the run page. Unknown values count as absent. */
function parseRunSearch(search: Readonly<Record<string, string | undefined>>): RunSearch {
  const seq = /^[1-9]\d{0,8}$/.test(search.seq ?? "") ? Number(search.seq) : undefined;
  return {
    seq: search.seq === "now" ? "now" : seq,
    tab: tabs.find((tab) => tab === search.tab) ?? "input",
    view: views.find((view) => view === search.view) ?? "rendered",
    as: views.find((view) => view === search.as) ?? "rendered",
    fold: search.fold === "1",
    compare: search.compare === "1",
  };
}

/** Returns the state in the URL and the function that changes a part of it. */
export function useRunSearch() {
  const search: Record<string, string | undefined> = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (changed: Partial<RunSearch>, history: "push" | "replace" = "replace") => {
    const { seq, tab, view, as, fold, compare } = { ...parseRunSearch(search), ...changed };
    void navigate({
      to: ".",
      search: {
        seq: seq === undefined ? undefined : String(seq),
        tab: tab === "input" ? undefined : tab,
        view: view === "rendered" ? undefined : view,
        as: as === "rendered" ? undefined : as,
        fold: fold ? "1" : undefined,
        compare: compare ? "1" : undefined,
      } as never,
      replace: history === "replace",
      resetScroll: false,
    });
  };
  return { ...parseRunSearch(search), change };
}
