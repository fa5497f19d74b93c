import type { AuditEntry } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useWorkspace } from "../data/index.ts";
import { namesQuery } from "./queries.ts";
import { type Names, namesIn } from "./sentence.ts";

/**
 * Returns names by id: the current names, and those of deleted resources that the entries contain.
 */
export function useNames(entries: readonly AuditEntry[]): Names {
  const { data: current } = useQuery(namesQuery(useWorkspace()));
  return useMemo(() => new Map([...namesIn(entries), ...(current ?? [])]), [entries, current]);
}
