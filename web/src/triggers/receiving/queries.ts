import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../data/index.ts";
import { receivingClient } from "../receiving-client.ts";

/** The presets of senders. They change only with Beckon itself. */
export const presetsQuery = ({ id, client }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [id, "trigger presets"],
    queryFn: ({ signal }) => receivingClient(client).presets({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
