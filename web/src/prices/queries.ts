import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** Prefix of the keys of all queries about prices, to refetch them with `announceChanges`. */
export const pricesKey = (workspaceId: string) => [workspaceId, "prices"] as const;

/** The prices of the models that the workspace's agents use. */
export const pricesQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...pricesKey(id), "list"], (page, options) => client.prices.list(page, options));
