import type { ExportAuditQuery, Listing } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";
import type { Names } from "./sentence.ts";

/** Names of the API's filters, which are also those of the URL. */
const filterNames = ["actor", "action", "target", "since", "until"] as const;

/** The search parameters of the screen, as texts. */
export type AuditSearch = Readonly<
  Partial<Record<(typeof filterNames)[number] | "entry" | "at", string>>
>;

/** Returns the filters that the URL has. An empty one is a chip whose value is not chosen yet. */
export function filtersOf(search: AuditSearch): ExportAuditQuery {
  return Object.fromEntries(
    filterNames.map((name) => [name, search[name]]).filter(([, value]) => value),
  ) as ExportAuditQuery;
}

/** The entries that match, newest first. */
export const auditQuery = ({ id, client }: CurrentWorkspace, filters: ExportAuditQuery) =>
  listOptions([id, "audit", "list", filters], (page, options) =>
    client.audit.list({ ...filters, ...page }, options),
  );

/**
 * One entry; null if there is none. The API reads no single entry, so its millisecond is listed.
 * @param at the time of the entry
 */
export const entryQuery = ({ id, client }: CurrentWorkspace, entryId: string, at: string) =>
  queryOptions({
    queryKey: [id, "audit", entryId],
    queryFn: async ({ signal }) => {
      const until = new Date(Date.parse(at) + 1).toISOString();
      for await (const entry of client.audit.list({ since: at, until, limit: 200 }, { signal }))
        if (entry.id === entryId) return entry;
      return null;
    },
  });

/** Returns the path of the file with all entries that match. */
export function exportPath(workspaceId: string, filters: ExportAuditQuery): string {
  const query = new URLSearchParams({ ...filters, workspace: workspaceId });
  return `/api/public/audit/export?${query}`;
}

/** Current names of people and things. Of each kind the first 200 are read; others show their id. */
export const namesQuery = ({ id, client, can }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [id, "audit", "names"],
    staleTime: 300_000,
    queryFn: async ({ signal }): Promise<Names> => {
      const limit = 200;
      const read = async <Row extends Named>(allowed: boolean, list: () => Listing<Row>) =>
        allowed ? (await list().page()).data : [];
      const lists = await Promise.all([
        read(can("members:read"), () => client.members.list({ limit }, { signal })),
        read(can("keys:read"), () => client.keys.list({ limit }, { signal })),
        read(can("providers:read"), () => client.providers.list({ limit }, { signal })),
        read(can("agents:read"), () => client.agents.list({ limit }, { signal })),
        read(can("agents:read"), () => client.agents.list({ limit, deleted: "true" }, { signal })),
      ]);
      return new Map(lists.flat().map(({ id: thingId, name }) => [thingId, name]));
    },
  });

interface Named {
  readonly id: string;
  readonly name: string;
}
