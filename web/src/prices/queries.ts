import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** Beginning of the keys of all queries of prices, for `announceChanges`. */
export const pricesKey = (workspaceId: string) => [workspaceId, "prices"] as const;

/** The prices of the models that the workspace's agents use. */
export const pricesQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...pricesKey(id), "list"], (page, options) => client.prices.list(page, options));
