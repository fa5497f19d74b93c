import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../data/index.ts";

/**
 * The presets: the settings for requests of known senders, such as GitHub. They are part of Beckon,
 * so they are read only once.
 */
export const presetsQuery = ({ id, client }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [id, "trigger presets"],
    queryFn: async ({ signal }) => (await client.triggerPresets.list({ signal }).page()).data,
    staleTime: Number.POSITIVE_INFINITY,
  });
