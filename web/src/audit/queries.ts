import type { ExportAuditQuery, Listing } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, firstRows, listOptions } from "../data/index.ts";
import { formatCount } from "../format/index.ts";
import type { Names } from "./sentence.ts";

/** Names of the API's filters. The URL of the screen uses the same names. */
const filterNames = ["actor", "action", "target", "since", "until"] as const;

/** Search parameters in the URL of the audit log's screen. */
export type AuditSearch = Readonly<
  Partial<Record<(typeof filterNames)[number] | "entry" | "at", string>>
>;

/**
 * Returns the filters in the URL. A filter with an empty value is left out: its value is not chosen
 * yet.
 */
export function filtersOf(search: AuditSearch): ExportAuditQuery {
  return Object.fromEntries(
    filterNames.map((name) => [name, search[name]]).filter(([, value]) => value),
  ) as ExportAuditQuery;
}

/** The entries that match the filters, newest first. */
export const auditQuery = ({ id, client }: CurrentWorkspace, filters: ExportAuditQuery) => ({
  ...listOptions([id, "audit", "list", filters], (page, options) =>
    client.audit.list({ ...filters, ...page }, options),
  ),
  // Other screens add entries, so the list is refetched each time it is opened.
  staleTime: 0,
});

/**
 * An entry; null if there is none. The API cannot read a single entry, so this lists all entries of
 * the same millisecond.
 * @param at the time of the entry
 */
export const entryQuery = ({ id, client }: CurrentWorkspace, entryId: string, at: string) =>
  queryOptions({
    // `entryId` and `at` come from the URL, so they can be any text. The word "one" keeps this key
    // different from the keys of other queries, such as the one with "names".
    queryKey: [id, "audit", "one", entryId, at],
    queryFn: async ({ signal }) => {
      const until = new Date(Date.parse(at) + 1).toISOString();
      for await (const entry of client.audit.list({ since: at, until, limit: 200 }, { signal }))
        if (entry.id === entryId) return entry;
      return null;
    },
  });

/** Returns the path of the export file with all entries that match the filters. */
export function exportPath(workspaceId: string, filters: ExportAuditQuery): string {
  const query = new URLSearchParams({ ...filters, workspace: workspaceId });
  return `/api/public/audit/export?${query}`;
}

/** Maximum number of names that are read, of each kind. */
const maxNamed = 2_000;

/** Current names of people and resources. */
interface CurrentNames {
  /** By id. */
  readonly names: Names;
  /** A sentence if there can be more than was read; otherwise empty. */
  readonly note: string;
}

/**
 * Current names of people and resources. The filter by actor offers these people and keys.
 * `useAuditNames` takes other names from the audit entries, if they contain them.
 */
export const namesQuery = ({ id, client, can }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [id, "audit", "names"],
    staleTime: 300_000,
    queryFn: async ({ signal }): Promise<CurrentNames> => {
      const limit = 200;
      const read = async <Row extends Named>(
        noun: string,
        allowed: boolean,
        list: () => Listing<Row>,
      ) => ({ noun, rows: allowed ? await firstRows(list(), maxNamed) : [] });
      const kinds = await Promise.all([
        read("members", can("members:read"), () => client.members.list({ limit }, { signal })),
        read("keys", can("keys:read"), () => client.keys.list({ limit }, { signal })),
        read("providers", can("providers:read"), () =>
          client.providers.list({ limit }, { signal }),
        ),
        read("agents", can("agents:read"), () =>
          client.agents.list({ limit, view: "summary" }, { signal }),
        ),
        read("deleted agents", can("agents:read"), () =>
          client.agents.list({ limit, view: "summary", deleted: "true" }, { signal }),
        ),
      ]);
      const incomplete = kinds.filter(({ rows }) => rows.length === maxNamed);
      const nouns = incomplete.map(({ noun }) => noun).join(" and ");
      const first = `Only the first ${formatCount(maxNamed)} ${nouns}`;
      return {
        names: new Map(
          kinds.flatMap(({ rows }) => rows.map(({ id: thingId, name }) => [thingId, name])),
        ),
        note: nouns === "" ? "" : `${first} have names here. Others can be shown by their ids.`,
      };
    },
  });

interface Named {
  readonly id: string;
  readonly name: string;
}
