import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** Beginning of the keys of all queries of prices, for `announceChanges`. */
export const pricesKey = (workspaceId: string) => [workspaceId, "prices"] as const;

/** What the models of the workspace's agents cost. */
export const pricesQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...pricesKey(id), "list"], (page, options) => client.prices.list(page, options));
