/** The search parameters of the playground. */
export interface PlaygroundSearch {
  /** Id of the run whose input is filled in; undefined for none. */
  readonly run?: string | undefined;
  /** Id of the run that is compared with `run`; undefined for no comparison. */
  readonly compare?: string | undefined;
}

/** Returns the search parameters. Values that are not ids of runs are left out. */
export function searchOf(search: Readonly<Record<string, unknown>>): PlaygroundSearch {
  const idIn = (value: unknown) =>
    typeof value === "string" && /^run_[a-z0-9]{1,60}$/.test(value) ? value : undefined;
  return {
    run: idIn(search.run),
    compare: idIn(search.compare),
  };
}

/** Returns the query string of the playground's URL, with `?`. */
export function queryOf({ run, compare }: PlaygroundSearch): string {
  const given = Object.entries({ run, compare }).filter(([, value]) => value !== undefined);
  return `?${new URLSearchParams(given as [string, string][])}`;
}
