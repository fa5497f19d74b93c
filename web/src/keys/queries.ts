import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** Prefix of the keys of all queries about API keys, to refetch them with `announceChanges`. */
export const keysKey = (workspaceId: string) => [workspaceId, "keys"] as const;

/** The workspace's API keys, newest first. */
export const keysQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...keysKey(id), "list"], (page, options) => client.keys.list(page, options));

/**
 * A single key. It is read if a link names a key that the list has not loaded. The word "one" in
 * the query key is needed, because the id comes from the URL and can be any text, also "list".
 */
export const keyQuery = ({ id, client }: CurrentWorkspace, keyId: string) =>
  queryOptions({
    queryKey: [...keysKey(id), "one", keyId],
    queryFn: ({ signal }) => client.keys.get(keyId, { signal }),
  });
